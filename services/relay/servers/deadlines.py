"""How long a server may take."""

import asyncio
from types import TracebackType

from services.relay.servers.failures import too_slow
from shared.contracts.config import Server


class Patience:
    """A deadline that signs of life move, up to the server's `longest`. Begins when it is made."""

    def __init__(self, limit: asyncio.Timeout, server: Server) -> None:
        self._limit = limit
        self._idle = server.timeout
        self._end = asyncio.get_running_loop().time() + server.longest

    def renew(self) -> None:
        """The server is at work: wait as long again from now."""
        if not self._limit.expired():
            now = asyncio.get_running_loop().time()
            self._limit.reschedule(min(now + self._idle, self._end))


class deadline:  # noqa: N801 (it is used as a function)
    """Everything inside ends in time: the server's own `timeout`, or fewer seconds.

    Gives the limit, which can be moved. Raises a `Problem`.
    """

    __slots__ = ("_clock", "_limit", "_seconds", "_server", "_started")

    def __init__(self, server: Server, seconds: float | None = None) -> None:
        self._server = server
        self._seconds = seconds or server.timeout
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()
        self._limit = asyncio.timeout(self._seconds)

    async def __aenter__(self) -> asyncio.Timeout:
        return await self._limit.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError as late:
            raise self._late() from late
        if isinstance(error, TimeoutError):
            raise self._late() from error

    def _late(self) -> Exception:
        return too_slow(self._server, max(self._seconds, int(self._clock() - self._started)))
