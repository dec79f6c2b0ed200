"""Which processes there are: each with its command, its environment and its sign of life."""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from demo.run import binaries
from demo.run.child import inherited
from demo.run.folder import Folder
from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import Probe, answers, redis_answers
from demo.run.settings import DEMO_SECRET, ROOT, Settings
from shared.contracts.secrets import secrets_of
from shared.contracts.wire import CALLBACK_PATH, HEALTH_PATH, JWKS_PATH, READY_PATH, Service
from shared.settings import Environment, read_config

# tiers start in this order and end in the opposite one
STORE, DEMO, SERVICES, EDGE = range(4)
# a variable of this name in somebody's shell would reach a process that reads it as its own
_OURS = (
    *("STRAD_CONFIG", "STRAD_KEYS", "STRAD_REDIS", "STRAD_BIND", "STRAD_PORT", "STRAD_DATA"),
    *("STRAD_INTERNAL_PORT", "STRAD_RELAY_URL", "HOST", "PORT", "BIND", "ISSUER", "CLIENT_ID"),
    *("CLIENT_SECRET", "REDIRECT_URI", "STATE_DIR", "PEOPLE", "FAULTS", "SELF_URL"),
    *("ALLOWED_HOSTS", "RELAY_JWKS_URL", "RELAY_ISSUER"),
)


@dataclass(frozen=True)
class Part:
    """One process to be."""

    name: str
    tier: int
    command: tuple[str, ...]
    environment: Mapping[str, str]
    ready: Probe


@dataclass(frozen=True)
class Ports:
    """Ports that were free when they were chosen, by process name."""

    redis: int
    catalog: int
    hostile: int
    public: Mapping[str, int] = field(default_factory=dict)
    internal: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def choose(cls, settings: Settings) -> "Ports":
        """None of those that the settings name. Raises `OSError` when there are none."""
        taken = (settings.port, settings.provider_port)
        redis, catalog, hostile, *rest = free_ports(3 + 2 * len(Service), but=taken)
        names = [service.value for service in Service]
        count = len(names)
        public, internal = rest[:count], rest[count:]
        return cls(
            redis,
            catalog,
            hostile,
            dict(zip(names, public, strict=True)),
            dict(zip(names, internal, strict=True)),
        )


class Plan:
    """The parts of a stack. Raises `BinaryMissing`, and `SettingsWrong` for its configuration."""

    def __init__(self, settings: Settings, folder: Folder, ports: Ports) -> None:
        self._settings, self._folder, self._ports = settings, folder, ports
        self._variables = self._shared_variables()
        env = Environment({**os.environ, **self._variables})
        config = read_config(env, settings.config)
        env.done()
        assert config is not None  # `done` has raised otherwise
        self.config = config
        self.parts = tuple(self._all())

    def _all(self) -> Iterator[Part]:
        yield self._redis()
        if self._settings.demo:
            yield from self._demo()
        for service in (Service.RELAY, Service.AUTH, Service.APPHOST):
            yield self._service(service)
        yield self._edge()

    def _redis(self) -> Part:
        kept = self._folder.kept
        options = {
            "port": str(self._ports.redis),
            "bind": LOOPBACK,
            "aclfile": str(self._folder.keys / "redis" / "users.acl"),
            "dir": str(self._folder.made("redis")),
            "save": "",
            "appendonly": "yes" if kept else "no",
            "maxmemory-policy": "noeviction",
        }
        arguments = [text for name, value in options.items() for text in (f"--{name}", value)]
        return Part(
            "redis",
            STORE,
            (str(binaries.valkey()), *arguments),
            {"PATH": os.defpath},
            redis_answers(self._ports.redis),
        )

    def _demo(self) -> Iterator[Part]:
        port = self._settings.provider_port
        yield self._python(
            "provider",
            DEMO,
            answers(port, HEALTH_PATH),
            HOST=LOOPBACK,
            PORT=str(port),
            ISSUER=self._variables["DEMO_ISSUER"],
            CLIENT_SECRET=DEMO_SECRET,
            REDIRECT_URI=f"{self._settings.public_url}{CALLBACK_PATH}",
            STATE_DIR=str(self._folder.made("provider")),
            FAULTS="1" if self._settings.faults else "0",
        )
        for name, port in (("catalog", self._ports.catalog), ("hostile", self._ports.hostile)):
            yield self._python(
                name,
                DEMO,
                answers(port, HEALTH_PATH),
                HOST=LOOPBACK,
                PORT=str(port),
                RELAY_JWKS_URL=f"{self._settings.public_url}{JWKS_PATH}",
                RELAY_ISSUER=self._settings.public_url,
            )

    def _service(self, service: Service) -> Part:
        others = {ref.env for _, ref in secrets_of(self.config)}
        others -= {ref.env for _, ref in secrets_of(self.config, service)}
        variables = {**inherited((*_OURS, *filter(None, others))), **self._variables}
        if self._settings.demo and service is Service.AUTH:
            variables["DEMO_CLIENT_SECRET"] = DEMO_SECRET
        return Part(
            service.value,
            SERVICES,
            (sys.executable, "-m", f"services.{service}"),
            {
                **variables,
                "STRAD_CONFIG": str(self._settings.config),
                "STRAD_KEYS": str(self._folder.keys / service),
                "STRAD_REDIS": f"redis://{LOOPBACK}:{self._ports.redis}/0",
                "STRAD_BIND": LOOPBACK,
                "STRAD_PORT": str(self._ports.public[service]),
                "STRAD_INTERNAL_PORT": str(self._ports.internal[service]),
                "STRAD_RELAY_URL": f"http://{LOOPBACK}:{self._ports.internal[Service.RELAY]}",
            },
            answers(self._ports.internal[service], READY_PATH),
        )

    def _edge(self) -> Part:
        own = str(self._folder.made("edge"))
        environment = {"PATH": os.defpath, "HOME": own, "PORT": str(self._settings.port)}
        environment |= {"BIND": LOOPBACK, "XDG_DATA_HOME": own, "XDG_CONFIG_HOME": own}
        for service in Service:
            environment[f"{service.upper()}_HOST"] = LOOPBACK
            environment[f"{service.upper()}_PORT"] = str(self._ports.public[service])
        file = ROOT / "deploy" / "Caddyfile"
        command = (str(binaries.caddy()), "run", "--adapter", "caddyfile", "--config", str(file))
        # a file that needs no sign-in: its answer says that the edge routes
        ready = answers(self._settings.port, "/static/strad.css", self.config.host)
        return Part("edge", EDGE, command, environment, ready)

    def _python(self, name: str, tier: int, ready: Probe, **variables: str) -> Part:
        command = (sys.executable, "-m", f"demo.{name}")
        return Part(name, tier, command, {**inherited(_OURS), **variables}, ready)

    def _shared_variables(self) -> dict[str, str]:
        """What the configuration's ${NAME} may ask for."""
        variables = {"STRAD_PUBLIC_URL": self._settings.public_url, "PYTHONUNBUFFERED": "1"}
        if self._settings.demo:
            variables |= {
                "DEMO_ISSUER": f"http://{LOOPBACK}:{self._settings.provider_port}",
                "DEMO_CATALOG_URL": f"http://{LOOPBACK}:{self._ports.catalog}/mcp",
                "DEMO_HOSTILE_URL": f"http://{LOOPBACK}:{self._ports.hostile}/mcp",
            }
        return {**variables, **self._settings.variables}
