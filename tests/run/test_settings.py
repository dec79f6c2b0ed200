"""What `make run` is told, and what each process is told of it."""

from pathlib import Path

import pytest

from demo.run.folder import Folder
from demo.run.plan import Plan, Ports
from demo.run.settings import DEMO_CONFIG, DEMO_SECRET, Settings, load
from shared.settings import SettingsWrong

OWN = """\
public_url: ${STRAD_PUBLIC_URL}
provider:
  client_id: mine
  client_secret: {env: SIGN_IN_SECRET}
  allow: {domains: [example.com]}
servers:
  - slug: wiki
    name: Wiki
    url: http://127.0.0.1:1/mcp
    access: {everyone: true}
    headers: {X-Key: {env: WIKI_SECRET}}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "strad.yaml"
    path.write_text(OWN)
    return path


def environments(settings: Settings, tmp_path: Path) -> dict[str, dict[str, str]]:
    folder = Folder(tmp_path / "data")
    plan = Plan(settings, folder, Ports.choose(settings))
    folder.close()
    return {part.name: dict(part.environment) for part in plan.parts}


def test_nothing_needs_to_be_said() -> None:
    assert load({}) == Settings(port=8080, config=DEMO_CONFIG, demo=True)


def test_with_a_configuration_of_ones_own_the_demo_stays_out(own: Path, tmp_path: Path) -> None:
    settings = load({"STRAD_CONFIG": str(own), "SIGN_IN_SECRET": "a", "WIKI_SECRET": "b"})
    assert not settings.demo
    names = environments(settings, tmp_path).keys()
    assert list(names) == ["redis", "relay", "auth", "apphost", "edge"]


def test_every_mistake_is_told_before_anything_starts(own: Path) -> None:
    with pytest.raises(SettingsWrong) as caught:
        load({"STRAD_CONFIG": str(own), "PORT": "eighty"})
    where = [mistake.where for mistake in caught.value.mistakes]
    assert where == ["PORT", "provider.client_secret", "servers.0.headers.X-Key"]
    assert all(mistake.fix for mistake in caught.value.mistakes)


@pytest.mark.parametrize("port", ["0", "65535", "70000", "-1", "80 80"])
def test_a_port_that_cannot_be_used_is_named(port: str) -> None:
    with pytest.raises(SettingsWrong, match="PORT"):
        load({"PORT": port})


def test_a_configuration_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsWrong, match=r"nowhere\.yaml cannot be read"):
        load({"STRAD_CONFIG": str(tmp_path / "nowhere.yaml")})


def test_broken_yaml_is_told_with_its_line(own: Path) -> None:
    own.write_text("version: 1\nservers: [\n")
    with pytest.raises(SettingsWrong, match=r"strad\.yaml:\d+: is not YAML"):
        load({"STRAD_CONFIG": str(own)})


def test_a_service_gets_no_secret_of_another(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGN_IN_SECRET", "a")
    monkeypatch.setenv("WIKI_SECRET", "b")
    seen = environments(Settings(config=own, demo=False), tmp_path)
    holders = {
        name: [part for part, variables in seen.items() if name in variables]
        for name in ("SIGN_IN_SECRET", "WIKI_SECRET")
    }
    assert holders == {"SIGN_IN_SECRET": ["auth"], "WIKI_SECRET": ["relay"]}
    folders = {variables.get("STRAD_KEYS") for variables in seen.values()} - {None}
    assert len(folders) == 3


def test_the_demos_secret_reaches_auth_and_the_provider_only(tmp_path: Path) -> None:
    seen = environments(Settings(), tmp_path)
    holders = [name for name, variables in seen.items() if DEMO_SECRET in variables.values()]
    assert holders == ["provider", "auth"]


def test_what_somebodys_shell_holds_does_not_steer_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STRAD_BIND", "STRAD_REDIS_FILE", "HOST", "FAULTS", "ALLOWED_HOSTS", "PEOPLE"):
        monkeypatch.setenv(name, "0.0.0.0")
    for name, variables in environments(Settings(), tmp_path).items():
        assert "0.0.0.0" not in variables.values(), name


def test_redis_writes_to_disk_only_when_the_data_is_kept(tmp_path: Path) -> None:
    for data, expected in ((tmp_path / "kept", "yes"), (None, "no")):
        folder = Folder(data)
        settings = Settings(data=data)
        plan = Plan(settings, folder, Ports.choose(settings))
        folder.close()
        command = plan.parts[0].command
        assert command[command.index("--appendonly") + 1] == expected
        assert command[command.index("--bind") + 1] == "127.0.0.1"
