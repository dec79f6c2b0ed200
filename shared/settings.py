"""Settings: the environment, the folder of keys, and `strad.yaml`; all mistakes reported at once.

Every variable may be given as NAME_FILE, the path of a file that holds the value.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from shared.contracts.config import Config, cross_mistakes
from shared.contracts.fields import SecretRef
from shared.contracts.wire import Service
from shared.key_folder import Keys
from shared.signing import Seal

# the one in C reads ten thousand people in half a second
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing to mend before a service can start."""

    where: str
    problem: str
    fix: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}\n    fix: {self.fix}"


class SettingsWrong(Exception):
    """Settings that cannot be used, with every mistake found."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = mistakes
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        super().__init__(f"{count} in the settings\n" + "\n".join(map(str, mistakes)))


@dataclass(slots=True)
class Environment:
    """Reads variables and files, and collects what is wrong instead of stopping at the first."""

    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    mistakes: list[Mistake] = field(default_factory=list)

    def wrong(self, where: str, problem: str, fix: str) -> None:
        """Note a mistake, once."""
        mistake = Mistake(where, problem, fix)
        if mistake not in self.mistakes:
            self.mistakes.append(mistake)

    def text(self, name: str, default: str | None = None) -> str:
        """A variable, or the content of the file that NAME_FILE names, or the default."""
        if path := self.variables.get(f"{name}_FILE"):
            return self.file(Path(path), f"{name}_FILE") or ""
        value = self.variables.get(name) or default
        if value is None:
            self.wrong(name, "is not set", f"set {name} or {name}_FILE")
        return value or ""

    def port(self, name: str, default: int) -> int:
        """A TCP port; 0 lets the system choose."""
        text = self.text(name, str(default))
        if not text.isdecimal() or int(text) > 65535:
            self.wrong(name, f"`{text}` is not a port", "write a number from 0 to 65535")
            return default
        return int(text)

    def file(self, path: Path, where: str) -> str | None:
        """The content of a text file without its last newline, or None and a mistake."""
        try:
            return path.read_text().removesuffix("\n")
        except (OSError, UnicodeDecodeError) as error:
            detail = error.strerror if isinstance(error, OSError) else "is not text"
            self.wrong(where, f"{path} cannot be read: {detail}", "check the path and the rights")
            return None

    def secret(self, ref: SecretRef, where: str) -> str:
        """The value that a secret reference points at."""
        if ref.env is not None:
            value = self.variables.get(ref.env)
            if not value:
                self.wrong(where, f"the variable {ref.env} is not set", f"set {ref.env}")
        else:
            value = self.file(Path(ref.file or ""), where)
        if value and not all(" " <= char < "\x7f" for char in value):
            self.wrong(where, "the secret holds line breaks or odd characters", "store it plain")
        return ref.prefix + (value or "")

    def done(self) -> None:
        """Raise `SettingsWrong` if anything was wrong."""
        if self.mistakes:
            raise SettingsWrong(self.mistakes)


def read_config(env: Environment, path: Path) -> Config | None:
    """Read `strad.yaml`; None when it cannot be used (the mistakes are in `env`)."""
    text = env.file(path, "STRAD_CONFIG")
    if text is None:
        return None
    try:
        raw = yaml.load(text, Loader=_LOADER)  # noqa: S506 - both are safe ones
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or "cannot be parsed"
        env.wrong(where, f"is not YAML: {problem}", "check indentation and quotes near this line")
        return None
    if not isinstance(raw, dict):
        env.wrong(str(path), "holds no settings", "start from strad.example.yaml")
        return None
    before = len(env.mistakes)
    raw = _fill(env, raw, "")
    try:
        config = Config.model_validate(raw)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            where = ".".join(str(part) for part in item["loc"]) or str(path)
            env.wrong(where, *_explain(item))
        return None
    for mistake in cross_mistakes(config):
        env.wrong(*mistake)
    return config if len(env.mistakes) == before else None


def _explain(item: Any) -> tuple[str, str]:
    kind, message = item["type"], item["msg"]
    if kind == "missing":
        return "is missing", "add it; strad.example.yaml shows how"
    if kind == "extra_forbidden":
        return "is not a setting", "check the spelling, or remove it"
    if kind == "value_error":
        return "cannot be used", message.removeprefix("Value error, ")
    return f"cannot be used: {message}", "strad.example.yaml shows the form"


def _fill(env: Environment, value: Any, where: str) -> Any:
    """Replace ${NAME} and ${NAME:-default} in every string of the document."""
    if isinstance(value, dict):
        return {k: _fill(env, v, f"{where}.{k}".lstrip(".")) for k, v in value.items()}
    if isinstance(value, list):
        return [_fill(env, v, f"{where}.{n}") for n, v in enumerate(value)]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        found = env.variables.get(match[1]) or match[2]
        if found is None:
            env.wrong(where, f"the variable {match[1]} is not set", f"set {match[1]}")
        return found or ""

    return _VARIABLE.sub(replace, value)


@dataclass(frozen=True, slots=True)
class Base:
    """What every service needs.

    `metrics_token`: opens /metrics; empty: nothing does. `config_path`: of `strad.yaml`, which is
    followed.
    """

    service: Service
    config: Config
    seal: Seal
    redis_url: str
    redis_password: str
    bind: str
    port: int
    internal_port: int
    metrics_token: str = ""
    config_path: Path | None = None


def redis_address(env: Environment) -> str:
    """STRAD_REDIS: where Redis is, without credentials."""
    url = env.text("STRAD_REDIS", "redis://redis:6379/0")
    if not url.startswith(("redis://", "rediss://", "unix://")) or "@" in url:
        fix = "write redis://host:port/0; user and password come from STRAD_KEYS"
        env.wrong("STRAD_REDIS", f"`{url}` is not usable", fix)
    return url


def read_base(env: Environment, service: Service) -> tuple[Base | None, Keys]:
    """Read what every service needs; None when something is wrong (see `env.mistakes`)."""
    path = Path(env.text("STRAD_CONFIG", "strad.yaml"))
    config = read_config(env, path)
    keys = Keys(env, Path(env.text("STRAD_KEYS", "/run/strad/keys")))
    seal = keys.seal()
    redis_url = redis_address(env)
    password, metrics_token = keys.text("redis.password"), keys.text("metrics.token")
    bind = env.text("STRAD_BIND", "0.0.0.0")  # noqa: S104 - a container's own address
    port = env.port("STRAD_PORT", 8080)
    internal = env.port("STRAD_INTERNAL_PORT", 9090)
    if config is None or seal is None:
        return None, keys
    at = (bind, port, internal)
    base = Base(service, config, seal, redis_url, password, *at, metrics_token, path)
    return base, keys
