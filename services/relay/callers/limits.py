"""Requests a minute, of one person and to one server, counted in Redis for all replicas at once.

A window is a minute of the clock, so everybody who is refused knows when the next one begins. The
counters of a request at /mcp are read with its token, in one round trip (`ReadAhead`).
"""

from collections import OrderedDict
from contextvars import ContextVar

from services.relay.audit.trail import Audit
from services.relay.gate import Way
from shared import keys
from shared.clock import Clock
from shared.contracts.access import Reason
from shared.contracts.config import Config
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal
from shared.stores.kv import KeyValue

WINDOW_SECONDS = 60
KEEP_SECONDS = 2 * WINDOW_SECONDS
_MOST_WELCOME = 10_000

# the servers that the request at hand has been counted for
_COUNTED: ContextVar[set[str] | None] = ContextVar("counted", default=None)


class Limits:
    """Counts and refuses. Methods may raise `StoreUnavailable`."""

    def __init__(
        self, config: Config, store: KeyValue, seal: Seal, audit: Audit, clock: Clock
    ) -> None:
        self._person = config.limits.person
        self._servers = {one.slug: one.per_minute or config.limits.server for one in config.servers}
        # a dump names no server: who reads one is not to learn which there are
        self._places = {one.slug: seal.digest("limit", one.slug) for one in config.servers}
        self._names = {server.slug: server.name for server in config.servers}
        self._store = store
        self._audit = audit
        self._clock = clock
        # of this window: the keys of counters, and which have got their end from this process,
        # which is one command less
        self._window = 0
        self._keys: dict[tuple[str, str], str] = {}
        self._ending: set[str] = set()
        # who was let through to which server last time
        self._welcome: OrderedDict[tuple[str, str], None] = OrderedDict()

    def keys(self, subject: str, slug: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The counters that a request will want, and those of them that still need an end.

        Not the server's for somebody who may not use it: he could use it up for those who may.
        """
        found: tuple[str, ...] = (self._key("person", subject),)
        if slug is not None and (subject, slug) in self._welcome:
            found = (*found, self._key("server", self._places[slug]))
        if self._ending.issuperset(found):
            return found, ()
        return found, tuple(key for key in found if key not in self._ending)

    async def enter(self, principal: Principal, slug: str | None) -> None:
        """Count a person's request as it comes in. `slug`: the server that it names, if any.

        Raises TOO_MANY_REQUESTS.
        """
        _COUNTED.set(set())
        count = await self._count("person", principal.subject)
        if count > self._person:
            self.turn_away(principal, slug)
            await self._first(count - self._person, principal, slug, Reason.PERSON_LIMIT)
            title = "You ask too much at once."
            raise self._too_many(title, f"{self._person} requests a minute", Reason.PERSON_LIMIT)

    def turn_away(self, principal: Principal, slug: str | None) -> None:
        """This person was not let through to this server."""
        if slug is not None:
            self._welcome.pop((principal.subject, slug), None)

    async def reach(self, way: Way) -> None:
        """Count a request on its way to a server, once. Raises TOO_MANY_REQUESTS."""
        counted, slug = _COUNTED.get(), way.server.slug
        if counted is None or slug in counted:
            return
        counted.add(slug)
        most = self._servers[slug]
        count = await self._count("server", self._places[slug])
        if count > most:
            await self._first(count - most, way.principal, slug, Reason.SERVER_LIMIT)
            title = f"{self._names[slug]} is asked too much at once."
            advice = f"{most} requests a minute of all people"
            raise self._too_many(title, advice, Reason.SERVER_LIMIT)
        self._welcome[way.principal.subject, slug] = None
        if len(self._welcome) > _MOST_WELCOME:
            self._welcome.popitem(last=False)

    async def _first(
        self, over: int, principal: Principal, slug: str | None, reason: Reason
    ) -> None:
        # one entry for each limit and minute: a flood must not push everything else out
        if over == 1:
            await self._audit.denied(principal, slug, reason)

    async def _count(self, kind: str, name: str) -> int:
        key = self._key(kind, name)
        count = await self._store.count(key, KEEP_SECONDS)
        self._ending.add(key)
        return count

    def _too_many(self, title: str, most: str, reason: Reason) -> Problem:
        wait = WINDOW_SECONDS - int(self._clock()) % WINDOW_SECONDS
        advice = f"At most {most}: wait {wait} s."
        kind = ProblemKind.TOO_MANY_REQUESTS
        return Problem(kind, title, advice, reason, retry_after=wait)

    def _key(self, kind: str, name: str) -> str:
        window = int(self._clock()) // WINDOW_SECONDS
        if window != self._window:
            self._window = window
            self._keys.clear()
            self._ending.clear()
        key = self._keys.get((kind, name))
        if key is None:
            key = self._keys[kind, name] = keys.LIMIT.key(kind, name, str(window))
        return key
