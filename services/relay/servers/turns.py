"""So many requests at once at one server, and everybody's turn comes.

One person has at most half of the places, and those who wait are served in a circle, one of each
person: who asks much waits for himself. Nobody waits for long: he is told that the server is busy.
"""

import asyncio
from collections import Counter, OrderedDict, deque

from services.relay.gate import Way
from shared.contracts.config import Server
from shared.contracts.problems import Problem, ProblemKind

WAIT_SECONDS = 5.0
_LINE = 4  # times the places: so many requests of one person may wait


class Places:
    """One server's, in this process."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._free = server.at_once
        self._most = max(1, server.at_once // 2)
        self._held: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def take(self, subject: str) -> None:
        """A place, until it is given back. Raises TOO_MANY_REQUESTS when none becomes free."""
        if self._may(subject):
            self._take(subject)
        else:
            await self._wait(subject)

    def give_back(self, subject: str) -> None:
        """Let go of a place, once for each that was taken."""
        self._free += 1
        self._held[subject] -= 1
        if not self._held[subject]:
            del self._held[subject]
        if self._waiting:
            self._call_next()

    def _may(self, subject: str) -> bool:
        return self._free > 0 and self._held[subject] < self._most

    def _take(self, subject: str) -> None:
        self._free -= 1
        self._held[subject] += 1

    async def _wait(self, subject: str) -> None:
        line = self._waiting.setdefault(subject, deque())
        if len(line) >= _LINE * self._server.at_once:
            raise _busy(self._server)
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.append(called)
        try:
            async with asyncio.timeout(min(WAIT_SECONDS, self._server.timeout)):
                await called
        except BaseException as error:
            if called.done() and not called.cancelled():
                self.give_back(subject)  # called at the very moment of leaving
            elif called in line:
                line.remove(called)
            if isinstance(error, TimeoutError):
                raise _busy(self._server) from error
            raise
        finally:
            if not line and self._waiting.get(subject) is line:
                del self._waiting[subject]

    def _call_next(self) -> None:
        for subject, line in list(self._waiting.items()):
            while line and self._may(subject):
                called = line.popleft()
                if called.done():
                    continue  # he has just left
                self._take(subject)
                called.set_result(None)
                self._waiting.move_to_end(subject)
                return


class Turns:
    """The places of all servers."""

    def __init__(self) -> None:
        self._places: dict[str, Places] = {}

    def at(self, way: Way) -> Places:
        """The places of a way's server."""
        slug = way.server.slug
        if slug not in self._places:
            self._places[slug] = Places(way.server)
        return self._places[slug]


def _busy(server: Server) -> Problem:
    title = f"{server.name} is busy."
    advice = "You or others have too many requests open there: wait for one to end."
    return Problem(ProblemKind.TOO_MANY_REQUESTS, title, advice, "server-busy", retry_after=1)
