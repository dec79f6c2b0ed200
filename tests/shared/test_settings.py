"""Settings from the environment, from files and from keys; each mistake has its place and fix."""

from pathlib import Path

import pytest
import yaml

from cli.keys import make_keys
from shared.contracts.fields import SecretRef
from shared.contracts.wire import Service
from shared.key_folder import Keys
from shared.settings import Environment, SettingsWrong, read_base
from tests.shared.documents import GOOD, merged

SECRETS = {
    "from a variable": ({"env": "A"}, "value", []),
    "with a prefix": ({"env": "A", "prefix": "Bearer "}, "Bearer value", []),
    "from a file": ({"file": "f"}, "in the file", []),
    "no such variable": ({"env": "B"}, None, ["the variable B is not set"]),
    "no such file": ({"file": "g"}, None, ["cannot be read"]),
    "of two lines": ({"file": "two"}, None, ["line breaks"]),
    "no text": ({"file": "bytes"}, None, ["is not text"]),
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_comes_from_where_it_is_kept(tmp_path: Path, name: str) -> None:
    (tmp_path / "f").write_text("in the file\n")
    (tmp_path / "two").write_text("a\r\nX-Evil: b")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    raw, value, problems = SECRETS[name]
    if "file" in raw:
        raw = raw | {"file": str(tmp_path / raw["file"])}
    env = Environment({"A": "value"})
    found = env.secret(SecretRef.model_validate(raw), "here")
    assert value is None or found == value
    assert [one.where for one in env.mistakes] == ["here"] * len(problems)
    for mistake, words in zip(env.mistakes, problems, strict=True):
        assert words in mistake.problem


def test_a_variable_can_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "port").write_text("9000\n")
    env = Environment({"STRAD_PORT_FILE": str(tmp_path / "port"), "STRAD_PORT": "1"})
    assert env.port("STRAD_PORT", 8080) == 9000
    env = Environment({"STRAD_PORT_FILE": str(tmp_path / "none")})
    env.port("STRAD_PORT", 8080)
    assert "cannot be read" in str(env.mistakes[0])


@pytest.mark.parametrize("text", ["x", "-1", "65536", "80.5", " 80", "1e3"])
def test_a_port_is_a_number(text: str) -> None:
    env = Environment({"STRAD_PORT": text})
    env.port("STRAD_PORT", 8080)
    assert len(env.mistakes) == 1


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    make_keys(tmp_path / "keys")
    (tmp_path / "strad.yaml").write_text(yaml.safe_dump(GOOD))
    return {
        "STRAD_CONFIG": str(tmp_path / "strad.yaml"),
        "STRAD_KEYS": str(tmp_path / "keys" / "auth"),
    }


def test_the_base_of_a_service_is_read_with_its_defaults(variables: dict[str, str]) -> None:
    env = Environment(variables)
    base, _ = read_base(env, Service.AUTH)
    env.done()
    assert base is not None
    assert (base.port, base.internal_port) == (8080, 9090)
    assert base.redis_url == "redis://redis:6379/0"
    assert len(base.redis_password) >= 32


@pytest.mark.parametrize("url", ["redis://user:pass@h/0", "http://redis", "redis:6379", "x"])
def test_a_store_with_credentials_in_its_address_is_refused(
    variables: dict[str, str], url: str
) -> None:
    env = Environment(variables | {"STRAD_REDIS": url})
    read_base(env, Service.AUTH)
    assert [one.where for one in env.mistakes] == ["STRAD_REDIS"]


@pytest.mark.parametrize(
    "text", ["", "short", "zz" * 32, "00" * 31, "00" * 32 + "\nshort", "changeme"]
)
def test_a_weak_or_broken_key_is_refused(variables: dict[str, str], text: str) -> None:
    (Path(variables["STRAD_KEYS"]) / "seal.key").write_text(text)
    env = Environment(variables)
    base, _ = read_base(env, Service.AUTH)
    assert base is None
    with pytest.raises(SettingsWrong, match="strad keys"):
        env.done()


@pytest.mark.parametrize("text", ["", "{}", "[]", "x", '{"kty":"oct","k":"eA"}', '{"kty":"EC"}'])
def test_a_file_that_is_no_signing_key_is_named(variables: dict[str, str], text: str) -> None:
    folder = Path(variables["STRAD_KEYS"])
    (folder / "apphost.pub.json").write_text(text)
    env = Environment(variables)
    _, keys = read_base(env, Service.AUTH)
    assert keys.public("apphost.pub.json") is None
    assert "is no P-256 JWK" in str(env.mistakes[0])


def test_a_public_key_does_not_pass_for_a_private_one(variables: dict[str, str]) -> None:
    env = Environment(variables)
    Keys(env, Path(variables["STRAD_KEYS"]).parent / "relay").private("apphost.pub.json")
    assert "holds no private key" in str(env.mistakes[0])


def test_no_mistake_repeats_a_secret(variables: dict[str, str], tmp_path: Path) -> None:
    (Path(variables["STRAD_KEYS"]) / "seal.key").write_text("hunter2-seal")
    document = merged(GOOD, {"provider": {"client_secret": "hunter2-yaml"}})
    (tmp_path / "strad.yaml").write_text(yaml.safe_dump(document))
    env = Environment(variables)
    read_base(env, Service.AUTH)
    with pytest.raises(SettingsWrong) as wrong:
        env.done()
    assert "hunter2" not in str(wrong.value)
    assert len(wrong.value.mistakes) == 2
