"""Following `strad.yaml` while a service runs.

Who may sign in, administer and use what counts at once: `provider.allow`, `administrators`,
`groups`, `access` of the servers that were there at the start, and of `oauth.machines` that were,
all but what they prove themselves with.
Everything else counts from the next start, and the log says so. A file with mistakes changes
nothing: the log names them all, and what was in force stays in force.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shared import log
from shared.contracts.config import Access, Config, Server
from shared.contracts.machines import Machine
from shared.settings import Environment, Mistake, read_config

LOOK_SECONDS = 0.25
_MOST_NAMED = 20
_AT_ONCE = {"groups", "administrators", "servers", "provider"}

Stamp = tuple[int, int, int] | None


class Reload:
    """`changed` gets the configuration that is in force from now on."""

    def __init__(
        self,
        path: Path,
        config: Config,
        changed: Callable[[Config], None],
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._path = path
        self._config = config
        self._changed = changed
        self._variables = variables
        self._done: Stamp = None
        self._last: Stamp = None

    async def run(self) -> None:
        """Look for ever."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Read the file if it has changed and is at rest: half of it can look like a whole one."""
        now = await asyncio.to_thread(_stamp, self._path)
        before, self._last = self._last, now
        if now == self._done or now != before:
            return
        new, mistakes = await asyncio.to_thread(_read, self._path, self._variables)
        if await asyncio.to_thread(_stamp, self._path) != now:
            return
        self._done = now
        if new is None:
            named = [str(mistake) for mistake in mistakes[:_MOST_NAMED]]
            log.warning("config-refused", path=str(self._path), mistakes=named)
        else:
            self._take(new)

    def _take(self, new: Config) -> None:
        later = needs_restart(self._config, new)
        if later:
            log.warning("config-needs-restart", path=str(self._path), settings=later)
        if "entitlements.decision_point" in later:
            return  # `access` in the new file is written for another source
        current = in_force(self._config, new)
        if current != self._config:
            self._config = current
            log.event("config-applied", path=str(self._path))
            self._changed(current)


def in_force(old: Config, new: Config) -> Config:
    """The old configuration with the people of the new one. A server that is gone is nobody's."""
    access = {server.slug: server.access for server in new.servers}
    servers = tuple(
        server.model_copy(update={"access": access.get(server.slug, Access())})
        for server in old.servers
    )
    provider = old.provider.model_copy(update={"allow": new.provider.allow})
    oauth = old.oauth.model_copy(update={"machines": _machines(old, new)})
    people = {
        "groups": new.groups,
        "administrators": new.administrators,
        "servers": servers,
        "provider": provider,
        "oauth": oauth,
    }
    return old.model_copy(update=people)


def _machines(old: Config, new: Config) -> tuple[Machine, ...]:
    """Those of the new file that were there before, with the proof that is asked of them."""
    found = []
    for machine in old.oauth.machines:
        now = new.oauth.machine(machine.client_id)
        if now is not None:
            proof = {"secret": machine.secret, "jwks": machine.jwks, "jwks_file": machine.jwks_file}
            found.append(now.model_copy(update=proof))
    return tuple(found)


def needs_restart(old: Config, new: Config) -> list[str]:
    """The settings that differ and do not count yet."""
    found = []
    for name in type(old).model_fields:
        one, other = getattr(old, name), getattr(new, name)
        if name in {"entitlements", "oauth"}:
            found += [f"{name}.{part}" for part in _parts(one, other) if part != "machines"]
        elif name not in _AT_ONCE and one != other:
            found.append(name)
    found += [f"provider.{part}" for part in _parts(old.provider, new.provider) if part != "allow"]
    for machine in new.oauth.machines:
        earlier = old.oauth.machine(machine.client_id)
        if earlier is None or not earlier.proves_like(machine):
            found.append(f"oauth.machines.{machine.client_id}")
    before = {server.slug: _without_access(server) for server in old.servers}
    after = {server.slug: _without_access(server) for server in new.servers}
    for slug in dict.fromkeys([*before, *after]):
        if before.get(slug) != after.get(slug):
            found.append(f"servers.{slug}")
    return found


def _parts(one: Any, other: Any) -> list[str]:
    return [n for n in type(one).model_fields if getattr(one, n) != getattr(other, n)]


def _without_access(server: Server) -> Server:
    return server.model_copy(update={"access": Access()})


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def _read(path: Path, variables: Mapping[str, str] | None) -> tuple[Config | None, list[Mistake]]:
    env = Environment() if variables is None else Environment(variables)
    return read_config(env, path), env.mistakes
