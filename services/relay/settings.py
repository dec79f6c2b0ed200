"""What the relay reads at start: common settings, its own keys, the servers' credentials."""

from dataclasses import dataclass, field
from pathlib import Path

from joserfc.jwk import ECKey, KeySet

from shared.contracts.wire import Service
from shared.key_folder import APPHOST_PUBLIC, GRANT, IDENTITY, IDENTITY_PUBLIC
from shared.settings import Base, Environment, read_base
from shared.signing import Seal


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that is fixed while the relay runs.

    `grant_seal`: the relay's alone, so that nobody else can make a grant.
    `audit_seal`: of the audit trail.
    `identity_key`: signs what servers learn of their callers. `published`: that servers verify it
    by; None: that one alone.
    `apphost_keys`: verify the assertions of apphost.
    `credentials`: header name to value, by slug.
    `decision_point`: the headers that it is sent. `refresh_token`: None if there is none.
    `config_path`: of `strad.yaml`, which is followed; None: it is not.
    """

    base: Base
    grant_seal: Seal
    audit_seal: Seal
    identity_key: ECKey
    apphost_keys: KeySet
    credentials: dict[str, dict[str, str]]
    decision_point: dict[str, str] = field(default_factory=dict)
    refresh_token: str | None = None
    config_path: Path | None = None
    published: KeySet | None = None


def read(env: Environment) -> Settings:
    """Read all settings. Raises `SettingsWrong` with every mistake."""
    base, keys = read_base(env, Service.RELAY)
    grant_seal = keys.seal(GRANT)
    audit_seal = keys.audit_seal()
    identity_key = keys.private(IDENTITY)
    published = None if identity_key is None else keys.published(IDENTITY_PUBLIC, identity_key)
    apphost_keys = keys.public(APPHOST_PUBLIC)
    credentials = {} if base is None else _credentials(env, base)
    decision_point = {} if base is None else _decision_point(env, base)
    refresh_token = None if base is None else _refresh_token(env, base)
    path = Path(env.text("STRAD_CONFIG", "strad.yaml"))
    env.done()
    # `done` has raised for each of these that is missing
    assert base is not None
    assert grant_seal is not None
    assert audit_seal is not None
    assert identity_key is not None
    assert apphost_keys is not None
    return Settings(
        base,
        grant_seal,
        audit_seal,
        identity_key,
        apphost_keys,
        credentials,
        decision_point,
        refresh_token,
        path,
        published,
    )


def _credentials(env: Environment, base: Base) -> dict[str, dict[str, str]]:
    return {
        server.slug: {
            name: env.secret(ref, f"servers.{number}.headers.{name}")
            for name, ref in server.headers.items()
        }
        for number, server in enumerate(base.config.servers)
    }


def _decision_point(env: Environment, base: Base) -> dict[str, str]:
    point = base.config.entitlements.decision_point
    where = "entitlements.decision_point.headers"
    headers = {} if point is None else point.headers
    return {name: env.secret(ref, f"{where}.{name}") for name, ref in headers.items()}


def _refresh_token(env: Environment, base: Base) -> str | None:
    ref = base.config.entitlements.refresh_token
    return None if ref is None else env.secret(ref, "entitlements.refresh_token")
