"""How long a server may take."""

import asyncio
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
        self._due: dict[int, set[deadline]] = {}

    def due(self, when: float) -> "set[deadline]":
        """Those that end then, or up to GRAIN_SECONDS later."""
        tick = math.ceil(when / GRAIN_SECONDS)
        if (due := self._due.get(tick)) is None:
            due = self._due[tick] = set()
            self.loop.call_at(tick * GRAIN_SECONDS, self._end, tick)
        return due

    def _end(self, tick: int) -> None:
        for one in self._due.pop(tick):
            one.end()


class deadline:  # noqa: N801 (it is used as a function)
    """Everything inside ends in time: the server's own `timeout`, or fewer seconds.

    Gives itself, to be moved. Raises a `Problem`. Like `asyncio.timeout`, it ends its task by
    calling it off, and takes that back where nobody else has called it off besides.
    """

    __slots__ = (
        "_cancelling",
        "_due",
        "_ended",
        "_loop",
        "_seconds",
        "_server",
        "_started",
        "_task",
    )

    def __init__(self, server: Server, seconds: float | None = None) -> None:
        self._server = server
        self._seconds = seconds or server.timeout
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._due: set[deadline] = set()
        self._ended = False

    async def __aenter__(self) -> "deadline":
        task = asyncio.current_task(self._loop)
        assert task is not None
        self._task, self._cancelling = task, task.cancelling()
        self.reschedule(self._started + self._seconds)
        return self

    def reschedule(self, when: float | None) -> None:
        """End then, by the loop's clock; None: never."""
        self._due.discard(self)
        if when is not None and not self._ended:
            self._due = _timers(self._loop).due(when)
            self._due.add(self)

    def end(self) -> None:
        """It is over: what is inside ends now."""
        self._ended = True
        self._task.cancel()

    def expired(self) -> bool:
        """Whether it has ended what was inside."""
        return self._ended

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._due.discard(self)
        by_us_alone = self._ended and self._task.uncancel() <= self._cancelling
        late = by_us_alone and isinstance(error, asyncio.CancelledError)
        if late or isinstance(error, TimeoutError):
            raise self._late() from error

    def _late(self) -> Exception:
        return too_slow(self._server, max(self._seconds, int(self._loop.time() - self._started)))


_last: _Timers | None = None


def _timers(loop: asyncio.AbstractEventLoop) -> _Timers:
    global _last
    if _last is None or _last.loop is not loop:
        _last = _Timers(loop)  # those of another loop go on with their own
    return _last
