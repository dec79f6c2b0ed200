"""What `make run` can be told, by variables; every mistake is named with its fix."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shared.contracts.secrets import secrets_of
from shared.machine_proofs import read_proofs
from shared.settings import Environment, read_config

ROOT = Path(__file__).resolve().parent.parent.parent
DEMO_CONFIG = ROOT / "demo" / "strad.yaml"
DEMO_SECRET = "demo-secret"  # noqa: S105 - of a provider that asks nobody for a password


@dataclass(frozen=True)
class Settings:
    """`demo`: start the demo's provider and servers. `variables` reach the services as well."""

    port: int = 8080
    config: Path = DEMO_CONFIG
    demo: bool = True
    data: Path | None = None
    verbose: bool = False
    faults: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def public_url(self) -> str:
        """The address of the edge on this machine."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def provider_port(self) -> int:
        """The demo's sign-in page is at the next port: a fixed address, like the first."""
        return self.port + 1


def load(environ: Mapping[str, str]) -> Settings:
    """PORT (8080), STRAD_CONFIG (the demo), STRAD_DATA (a temporary folder), VERBOSE.

    An own configuration is read and checked here, before anything starts. Raises `SettingsWrong`.
    """
    env = Environment(environ)
    port = env.port("PORT", 8080)
    if not 0 < port < 65535:
        env.wrong("PORT", f"{port} cannot be used", "choose one from 1 to 65534, such as 8090")
    own, data = environ.get("STRAD_CONFIG"), environ.get("STRAD_DATA")
    settings = Settings(
        port=port,
        config=Path(own).resolve() if own else DEMO_CONFIG,
        demo=not own,
        data=Path(data).resolve() if data else None,
        verbose=environ.get("VERBOSE", "") not in ("", "0"),
        # behind a proxy of one's own the public address is another than the edge's
        variables={n: environ[n] for n in ("STRAD_PUBLIC_URL",) if own and environ.get(n)},
    )
    if own:
        env.variables = {"STRAD_PUBLIC_URL": settings.public_url, **environ}
        config = read_config(env, settings.config)
        if config is not None:
            for where, ref in secrets_of(config):
                env.secret(ref, where)
            read_proofs(env, config)
    env.done()
    return settings
