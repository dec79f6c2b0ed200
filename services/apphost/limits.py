"""How much a shown page may ask of its server: requests at once, and requests a minute.

Counted for one session at one server, in Redis: whichever replica is asked, it counts the same, and
no page can begin anew under another name. A page in two tabs is counted as one.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

from shared import keys, log
from shared.clock import Clock
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal
from shared.stores.kv import KeyValue, StoreUnavailable

AT_ONCE = 16
A_MINUTE = 300

Renew = Callable[[], Awaitable[None]]
"""The request is still at work: its place is kept as long again."""

_NO_SERVER = "-"  # no slug is this


class Limits:
    """Both limits. Methods may raise `StoreUnavailable`."""

    def __init__(self, slugs: Collection[str], store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._slugs = frozenset(slugs)
        self._store = store
        self._seal = seal
        self._clock = clock

    @asynccontextmanager
    async def one(self, session: str, slug: str, seconds: int) -> AsyncIterator[Renew]:
        """Room for one request. Raises `Problem` when there is none.

        `seconds`: for how long a place is kept when nobody gives it back, because a process died.
        """
        # what does not exist is counted too, as one: not to be told apart, and not to fill Redis
        counted = slug if slug in self._slugs else _NO_SERVER
        # a dump of Redis does not tell who uses which server
        whose = self._seal.digest("frame", f"{session}\0{counted}")
        if await self._store.count(keys.FRAME.key(whose, "minute"), 60) > A_MINUTE:
            raise _too_many(f"At most {A_MINUTE} requests a minute: wait a moment.", "a-minute")
        place = await self._take(whose, seconds)
        renew_at = self._clock() + seconds / 4

        async def renew() -> None:
            nonlocal renew_at
            if self._clock() >= renew_at:
                renew_at = self._clock() + seconds / 4
                await _settled(self._store.put(place, b"1", seconds))

        try:
            yield renew
        finally:
            await _settled(self._store.remove(place))

    async def _take(self, whose: str, seconds: int) -> str:
        # a place is a key of its own, taken in one step: no counter that a crash could leave high
        for number in random.sample(range(AT_ONCE), AT_ONCE):
            place = keys.FRAME.key(whose, str(number))
            if await self._store.add(place, b"1", seconds):
                return place
        raise _too_many(f"At most {AT_ONCE} requests at once: wait for one to end.", "at-once")


async def _settled(change: Awaitable[None]) -> None:
    try:
        await change
    except StoreUnavailable:
        # no reason to lose a request that runs or has its answer; the place ends by itself
        log.warning("place-of-a-request-unsettled", reason="store-unavailable")


def _too_many(advice: str, reason: str) -> Problem:
    title = "This app asks its server too much."
    return Problem(ProblemKind.TOO_MANY_REQUESTS, title, advice, reason)
