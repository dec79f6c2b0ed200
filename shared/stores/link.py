"""One connection to Redis, on which commands of many callers follow one another (pipelining).

Nobody waits for the answers of others: they come back in the order of the commands. The protocol is
RESP2, and of it only what commands on plain values answer with.
"""

import asyncio
from collections import deque
from collections.abc import Sequence

Command = tuple[str | int | bytes, ...]
Reply = bytes | int | None

_LINE_END = "\r\n"
_END = _LINE_END.encode()
_BULK, _NUMBER, _TEXT, _ERROR = b"$:+-"


class PipeBroken(OSError):
    """The connection is gone, or what came over it is not Redis."""


class PipeRefused(OSError):
    """Redis answered a command with an error."""


class _Asked:
    """Some commands on their way, and the answers that have come."""

    __slots__ = ("answered", "count", "refused", "replies", "until")

    def __init__(self, count: int, answered: "asyncio.Future[list[Reply]]", until: float) -> None:
        self.count = count
        self.answered = answered
        self.until = until
        self.replies: list[Reply] = []
        self.refused: PipeRefused | None = None

    def read(self, came: bytes, at: int) -> int:
        """Take the replies that begin there; where what is not whole yet begins.

        Raises `ValueError` for what is no reply to anything that is asked for here.
        """
        while not self.whole and (end := came.find(_END, at)) >= 0:
            kind, line, at_next = came[at], came[at + 1 : end], end + len(_END)
            reply: Reply = None
            if kind == _BULK:
                if (size := int(line)) >= 0:
                    at_next, start = at_next + size + len(_END), at_next
                    if len(came) < at_next:
                        break
                    reply = came[start : start + size]
            elif kind == _NUMBER:
                reply = int(line)
            elif kind == _TEXT:
                reply = line
            elif kind == _ERROR:
                self.refused = self.refused or PipeRefused(line.decode(errors="replace"))
            else:
                raise ValueError("no kind of reply that is asked for here")
            self.replies.append(reply)
            at = at_next
        return at

    @property
    def whole(self) -> bool:
        """Whether all replies have come."""
        return len(self.replies) == self.count

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
        self._asked: deque[_Asked] = deque()
        self._came = b""
        self._joined: list[bytes] = []
        self._transport: asyncio.Transport | None = None
        self._watch: asyncio.TimerHandle | None = None

    @property
    def open(self) -> bool:
        """Whether it can be asked."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self, commands: Sequence[Command]) -> "asyncio.Future[list[Reply]]":
        """The answers. Raises `PipeBroken`, `PipeRefused` or `TimeoutError`."""
        answered = self._loop.create_future()
        if self._transport is None or self._transport.is_closing():
            answered.set_exception(PipeBroken("the connection is closed"))
            return answered
        sent = packed(commands)  # what cannot be written must not be waited for
        until = self._loop.time() + self._seconds
        self._asked.append(_Asked(len(commands), answered, until))
        if self._watch is None:
            self._watch = self._loop.call_at(until, self._look)
        self._send(self._transport, sent)
        return answered

    def _send(self, transport: asyncio.Transport, sent: bytes) -> None:
        # each write wakes Redis: while it is at work already, callers who come together share one
        if len(self._asked) == 1:
            transport.write(sent)
            return
        if not self._joined:
            self._loop.call_soon(self._send_joined, transport)
        self._joined.append(sent)

    def _send_joined(self, transport: asyncio.Transport) -> None:
        joined, self._joined = b"".join(self._joined), []
        if not transport.is_closing():  # else all who wait have been told
            transport.write(joined)

    def data_received(self, data: bytes) -> None:
        came, at = self._came + data if self._came else data, 0
        try:
            while self._asked:
                first = self._asked[0]
                at = first.read(came, at)
                if not first.whole:
                    break
                self._asked.popleft()
                first.tell()
            if at < len(came) and not self._asked:
                raise ValueError("an answer that nobody asked for")
        except ValueError:
            self._end(PipeBroken("the answer is not of Redis"))
        self._came = came[at:]

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


def packed(commands: Sequence[Command]) -> bytes:
    """Commands as they are sent: arrays of bulk strings."""
    done: list[bytes] = []
    said: list[str] = []
    for command in commands:
        said.append(f"*{len(command)}\r\n")
        for part in command:
            if isinstance(part, bytes):
                said.append(f"${len(part)}\r\n")
                done += ("".join(said).encode(), part)
                said = [_LINE_END]
            else:
                text = str(part)
                size = len(text) if text.isascii() else len(text.encode())
                said.append(f"${size}\r\n{text}\r\n")
    done.append("".join(said).encode())
    return b"".join(done)
