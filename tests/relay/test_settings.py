"""The relay starts only when everything it needs is there, and names all that is not."""

from pathlib import Path

import pytest

from cli.keys import make_keys
from services.relay.settings import read
from shared.settings import Environment, SettingsWrong

CONFIG = """
public_url: http://127.0.0.1:8080
provider:
  issuer: https://idp.test
  client_id: x
  client_secret: {env: NOT_FOR_THE_RELAY}
  allow: {domains: [strad.test]}
servers:
  - slug: a
    name: A
    url: http://a.test/mcp
    access: {everyone: true}
    headers:
      Authorization: {env: A_TOKEN, prefix: "Bearer "}
"""


def _environment(folder: Path, **more: str) -> Environment:
    config = folder / "strad.yaml"
    config.write_text(CONFIG)
    make_keys(folder / "keys")
    return Environment(
        {"STRAD_CONFIG": str(config), "STRAD_KEYS": str(folder / "keys" / "relay")} | more
    )


def test_a_servers_credentials_come_from_the_environment(tmp_path: Path) -> None:
    settings = read(_environment(tmp_path, A_TOKEN="secret"))
    assert settings.credentials == {"a": {"Authorization": "Bearer secret"}}
    assert settings.identity_key.is_private


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    for name in ("grant.key", "identity.json", "apphost.pub.json"):
        (tmp_path / "keys" / "relay" / name).unlink()
    with pytest.raises(SettingsWrong) as caught:
        read(environment)
    text = str(caught.value)
    for part in ("grant.key", "identity.json", "apphost.pub.json", "servers.0.headers", "A_TOKEN"):
        assert part in text
    assert "secret" not in text


def test_a_public_key_does_not_do_for_signing(tmp_path: Path) -> None:
    environment = _environment(tmp_path, A_TOKEN="x")
    folder = tmp_path / "keys" / "relay"
    (folder / "identity.json").write_text((folder / "apphost.pub.json").read_text())
    with pytest.raises(SettingsWrong, match=r"identity\.json holds no private key"):
        read(environment)
