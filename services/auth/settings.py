"""What auth needs to start: the base of every service, its secret at the OpenID provider, and what
machines prove themselves with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.contracts.wire import Service
from shared.machine_proofs import Proof, read_proofs
from shared.settings import Base, Environment, read_base
from shared.signing import Seal


@dataclass(frozen=True, slots=True)
class Settings:
    """`client_secret`: what the provider knows this installation by. `audit_seal`: the trail's.

    `proofs`: of `oauth.machines`, by client id.
    """

    base: Base
    client_secret: str
    audit_seal: Seal
    proofs: Mapping[str, Proof] = field(default_factory=dict)


def read(env: Environment) -> Settings:
    """Read all settings. Raises `SettingsWrong` with every mistake."""
    base, keys = read_base(env, Service.AUTH)
    audit_seal = keys.audit_seal()
    secret, proofs = "", dict[str, Proof]()
    if base is not None:
        secret = env.secret(base.config.provider.client_secret, "provider.client_secret")
        proofs = read_proofs(env, base.config)
    env.done()
    if base is None or audit_seal is None:  # `done` has raised
        raise RuntimeError("settings are missing without a mistake")
    return Settings(base, secret, audit_seal, proofs)
