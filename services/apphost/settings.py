"""What apphost needs to start: the base of every service, its signing key, the relay's address."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from joserfc.jwk import ECKey

from shared.contracts.wire import Service
from shared.key_folder import APPHOST
from shared.settings import Base, Environment, read_base


@dataclass(frozen=True, slots=True)
class Settings:
    """`key` signs assertions to the relay; `relay_url` is its internal port, without a path."""

    base: Base
    key: ECKey
    relay_url: str


def read(env: Environment) -> Settings:
    """Read all settings. Raises `SettingsWrong` with every mistake."""
    base, keys = read_base(env, Service.APPHOST)
    key = keys.private(APPHOST)
    relay_url = env.text("STRAD_RELAY_URL", "http://relay:9090").rstrip("/")
    parts = urlsplit(relay_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path or parts.query:
        fix = "write the relay's internal address, such as http://relay:9090"
        env.wrong("STRAD_RELAY_URL", f"`{relay_url}` is not usable", fix)
    env.done()
    if base is None or key is None:  # `done` has raised
        raise RuntimeError("settings are missing without a mistake")
    return Settings(base, key, relay_url)
