"""So many requests a minute from one address, and from all together, counted in Redis.

The address is the one that the edge names last, which it writes itself. Whoever passes the edge by
can write another one, and so escape the smaller limit, never the larger one.
"""

import hashlib

from aiohttp import web

from shared import keys
from shared.clock import Clock
from shared.contracts.problems import Problem, ProblemKind
from shared.stores.kv import KeyValue

WINDOW_SECONDS = 60


class Limit:
    """`one`, `everybody`: the most in a minute."""

    def __init__(self, store: KeyValue, clock: Clock, name: str, one: int, everybody: int) -> None:
        self._store = store
        self._clock = clock
        self._name = name
        self._most = {"one": one, "all": everybody}

    async def enter(self, request: web.Request) -> None:
        """Count a request. Raises TOO_MANY_REQUESTS."""
        now = int(self._clock())
        window = str(now // WINDOW_SECONDS)
        whose = hashlib.sha256(_address(request).encode()).hexdigest()[:16]
        counted = [
            keys.OAUTH.key("limit", self._name, "one", window, whose),
            keys.OAUTH.key("limit", self._name, "all", window),
        ]
        _, counts = await self._store.look([], counted, counted, 2 * WINDOW_SECONDS)
        if any(count > most for count, most in zip(counts, self._most.values(), strict=True)):
            wait = WINDOW_SECONDS - now % WINDOW_SECONDS
            title, advice = "Too many ask for this at once.", f"Wait {wait} s, and try again."
            kind = ProblemKind.TOO_MANY_REQUESTS
            raise Problem(kind, title, advice, f"{self._name}-limit", retry_after=wait)


def _address(request: web.Request) -> str:
    named = request.headers.getall("X-Forwarded-For", [])
    return named[-1].rpartition(",")[2].strip() if named else request.remote or ""
