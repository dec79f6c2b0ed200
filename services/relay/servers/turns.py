"""So many requests at once at one server, and everybody's turn comes.

One person has at most half of the places, and those who wait are served in a circle, one of each
person: who asks much waits for himself. Nobody waits for long: he is told that the server is busy.
"""

import asyncio
from collections import OrderedDict, deque

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
        self._held: dict[str, int] = {}
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    async def take(self, subject: str) -> None:
        """A place, until it is given back. Raises TOO_MANY_REQUESTS when none becomes free."""
        if not self._took(subject):
            await self._wait(subject)

    def give_back(self, subject: str) -> None:
        """Let go of a place, once for each that was taken."""
        self._free += 1
        if (left := self._held[subject] - 1) > 0:
            self._held[subject] = left
        else:
            del self._held[subject]
        if self._waiting:
            self._call_next()

    def _took(self, subject: str) -> bool:
        held = self._held.get(subject, 0)
        if self._free <= 0 or held >= self._most:
            return False
        self._free -= 1
        self._held[subject] = held + 1
        return True

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
            while line:
                if line[0].done():
                    line.popleft()  # he has just left
                    continue
                if not self._took(subject):
                    break
                line.popleft().set_result(None)
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
