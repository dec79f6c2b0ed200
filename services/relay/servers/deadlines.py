"""How long a server may take."""

import asyncio
import contextlib
import math
from types import TracebackType

from services.relay.servers.failures import too_slow
from shared.contracts.config import Server

GRAIN_SECONDS = 0.1


class Patience:
    """A deadline that signs of life move, up to the server's `longest`. Begins when it is made."""

    def __init__(self, limit: "deadline", server: Server) -> None:
        self._limit = limit
        self._idle = server.timeout
        self._end = asyncio.get_running_loop().time() + server.longest

    def renew(self) -> None:
        """The server is at work: wait as long again from now."""
        if not self._limit.expired():
            now = asyncio.get_running_loop().time()
            self._limit.reschedule(min(now + self._idle, self._end))


class _Timers:
    """Deadlines that end at about the same time share one timer.

    Nearly all are over long before they end, and a timer of its own for each cost a call more than
    everything else about it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._due: dict[int, set[asyncio.Timeout]] = {}

    def due(self, when: float) -> set[asyncio.Timeout]:
        """Those that end then, or up to GRAIN_SECONDS later."""
        tick = math.ceil(when / GRAIN_SECONDS)
        if (due := self._due.get(tick)) is None:
            due = self._due[tick] = set()
            self.loop.call_at(tick * GRAIN_SECONDS, self._end, tick)
        return due

    def _end(self, tick: int) -> None:
        for limit in self._due.pop(tick):
            # one that is ending already, and was moved just then, must not keep the others from it
            with contextlib.suppress(RuntimeError):
                limit.reschedule(self.loop.time())


class deadline:  # noqa: N801 (it is used as a function)
    """Everything inside ends in time: the server's own `timeout`, or fewer seconds.

    Gives itself, to be moved. Raises a `Problem`.
    """

    __slots__ = ("_due", "_limit", "_loop", "_seconds", "_server", "_started")

    def __init__(self, server: Server, seconds: float | None = None) -> None:
        self._server = server
        self._seconds = seconds or server.timeout
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._limit = asyncio.timeout(None)
        self._due: set[asyncio.Timeout] = set()

    async def __aenter__(self) -> "deadline":
        await self._limit.__aenter__()
        self.reschedule(self._started + self._seconds)
        return self

    def reschedule(self, when: float | None) -> None:
        """End then, by the loop's clock; None: never."""
        self._due.discard(self._limit)
        if when is not None:
            self._due = _timers(self._loop).due(when)
            self._due.add(self._limit)

    def expired(self) -> bool:
        """Whether it has ended what was inside."""
        return self._limit.expired()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._due.discard(self._limit)
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError as late:
            raise self._late() from late
        if isinstance(error, TimeoutError):
            raise self._late() from error

    def _late(self) -> Exception:
        return too_slow(self._server, max(self._seconds, int(self._loop.time() - self._started)))


_last: _Timers | None = None


def _timers(loop: asyncio.AbstractEventLoop) -> _Timers:
    global _last
    if _last is None or _last.loop is not loop:
        _last = _Timers(loop)  # those of another loop go on with their own
    return _last
