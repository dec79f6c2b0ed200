"""One connection to Redis, on which commands of many callers follow one another (pipelining).

Nobody waits for the answers of others: they come back in the order of the commands. The protocol is
RESP2, and of it only what commands on plain values answer with.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from types import NoneType
from typing import NamedTuple

from hiredis import ProtocolError, Reader, pack_command

Command = tuple[str | int | bytes, ...]
Reply = bytes | int | None

# its own types know commands of one part only
_pack: Callable[[Command], bytes] = pack_command  # type: ignore[assignment]
_PLAIN = frozenset({bytes, int, NoneType})  # and no subclass: a bool is no number here
_MORE = object()


class PipeBroken(OSError):
    """The connection is gone, or what came over it is not Redis."""


class PipeRefused(OSError):
    """Redis answered a command with an error."""


class Batch(NamedTuple):
    """Commands as they are sent, and how many answers they have."""

    sent: bytes
    answers: int


def packed(commands: Sequence[Command]) -> Batch:
    """Commands that are sent together."""
    return Batch(b"".join(map(_pack, commands)), len(commands))


class _Asked:
    """A batch on its way, and the answers that have come."""

    __slots__ = ("answered", "count", "refused", "replies", "until")

    def __init__(self, count: int, answered: "asyncio.Future[list[Reply]]", until: float) -> None:
        self.count = count
        self.answered = answered
        self.until = until
        self.replies: list[Reply] = []
        self.refused: PipeRefused | None = None

    def refuse(self, reply: object) -> None:
        """Take what is no plain value. Raises `ProtocolError`, but for an error of Redis."""
        if not isinstance(reply, PipeRefused):
            raise ProtocolError("no kind of reply that is asked for here")
        self.refused = self.refused or reply

    def tell(self) -> None:
        """Give whoever asked the answers, unless he has left."""
        if self.answered.done():
            return
        if self.refused is not None:
            self.answered.set_exception(self.refused)
        else:
            self.answered.set_result(self.replies)


class Link(asyncio.Protocol):
    """One connection. `seconds`: so long an answer may take; then the connection is given up."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._reader = Reader(replyError=PipeRefused, notEnoughData=_MORE)
        self._asked: deque[_Asked] = deque()
        self._joined: list[bytes] = []
        self._crowd = False  # several came together the last time
        self._transport: asyncio.Transport | None = None
        self._watch: asyncio.TimerHandle | None = None

    @property
    def open(self) -> bool:
        """Whether it can be asked."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self, batch: Batch) -> "asyncio.Future[list[Reply]]":
        """The answers, or `PipeRefused`, `TimeoutError`. Raises `PipeBroken`, at once or later."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise PipeBroken("the connection is closed")
        answered, until = self._loop.create_future(), self._loop.time() + self._seconds
        self._asked.append(_Asked(batch.answers, answered, until))
        if self._watch is None:
            self._watch = self._loop.call_at(until, self._look)
        # each write wakes Redis: callers who come together share one; who is alone need not wait
        if len(self._asked) == 1 and not self._crowd:
            transport.write(batch.sent)
        else:
            if not self._joined:
                self._loop.call_soon(self._send_joined, transport)
            self._joined.append(batch.sent)
        return answered

    def _send_joined(self, transport: asyncio.Transport) -> None:
        self._crowd = len(self._joined) > 1
        joined, self._joined = b"".join(self._joined), []
        if not transport.is_closing():  # else all who wait have been told
            transport.write(joined)

    def data_received(self, data: bytes) -> None:
        reader, asked = self._reader, self._asked
        try:
            reader.feed(data)
            next_reply = reader.gets
            while (reply := next_reply()) is not _MORE:
                if not asked:
                    raise ProtocolError("nobody asked for this")
                first = asked[0]
                if type(reply) not in _PLAIN:
                    first.refuse(reply)
                (replies := first.replies).append(reply)
                if len(replies) == first.count:
                    asked.popleft().tell()
            if not asked and reader.has_data():
                raise ProtocolError("nobody asked for this")
        except ProtocolError as error:
            self._end(PipeBroken(f"the answer is not of Redis: {error}"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(PipeBroken(str(exc or "the connection was closed")))

    def close(self) -> None:
        """Let go; whoever still waits gets no answer."""
        self._end(PipeBroken("the connection was closed"))

    def _look(self) -> None:
        self._watch = None
        if not self._asked:
            return
        if self._asked[0].until <= self._loop.time():
            self._end(PipeBroken("an answer is missing"))
        else:
            self._watch = self._loop.call_at(self._asked[0].until, self._look)

    def _end(self, why: Exception) -> None:
        """Nobody who waits gets an answer here; who has not waited for long may ask elsewhere."""
        # answers come in order: after one that is missing nobody could tell whose the next one is
        if self._transport is not None:
            self._transport.abort()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        now = self._loop.time()
        while self._asked:
            asked = self._asked.popleft()
            late = asked.until <= now
            if not asked.answered.done():
                asked.answered.set_exception(TimeoutError("no answer in time") if late else why)
