"""A value fetched from elsewhere and kept: a provider's description, its keys."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from services.auth.refusals import Refused
from shared import log
from shared.clock import Clock

T = TypeVar("T")

FRESH_SECONDS = 3600
USABLE_SECONDS = 24 * 3600
PAUSE_SECONDS = 2
FORCED_EVERY_SECONDS = 60


class Kept(Generic[T]):
    """Fetches once for all who wait, keeps for an hour, and outlives a provider's bad moments.

    When a fetch fails, the old value stays usable for a day; without one the failure is raised, and
    for two seconds to come at once: nobody waits in a queue for a provider that is down.
    """

    def __init__(self, fetch: Callable[[], Awaitable[T]], clock: Clock) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = asyncio.Lock()
        self._value: T | None = None
        self._fetched = float("-inf")
        self._forced = float("-inf")
        self._failed = float("-inf")
        self._failure: Refused | None = None

    async def get(self) -> T:
        """The value, fetched if it is older than an hour. Raises `Refused`."""
        async with self._lock:
            now = self._clock()
            if self._value is not None and now - self._fetched < FRESH_SECONDS:
                return self._value
            if now - self._failed >= PAUSE_SECONDS:
                await self._try(now)
            return self._usable(now)

    async def newer(self, than: T) -> T:
        """The value after another fetch, unless somebody has fetched since `than` was read.

        Strangers can cause this call, so it fetches at most once a minute.
        """
        async with self._lock:
            now = self._clock()
            if self._value is than and now - self._forced >= FORCED_EVERY_SECONDS:
                self._forced = now
                await self._try(now)
            return self._usable(now)

    async def _try(self, now: float) -> None:
        try:
            self._value = await self._fetch()
            self._fetched, self._failure = now, None
        except Refused as failure:
            self._failed, self._failure = now, failure
            log.warning("provider-trouble", reason=failure.reason, detail=failure.detail)

    def _usable(self, now: float) -> T:
        if self._value is not None and now - self._fetched < USABLE_SECONDS:
            return self._value
        assert self._failure is not None  # without a value, the last try has failed
        raise Refused(self._failure.reason, self._failure.detail)
