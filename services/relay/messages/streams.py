"""Server-sent events as bytes: cut between events, never inside one, nothing added or lost.

There is no limit on the length of a line: a server sends a whole page as one `data:` line.
"""

import re

# all blank lines at once: a flood of them is one event, not thousands
_END = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)++")
_LINE = re.compile(rb"\r\n|\n|\r")
_LONGEST_END = 4
_MARK = b"\xef\xbb\xbf"


class EventTooLarge(Exception):
    """One event is larger than the limit."""


class Splitter:
    """Cuts a byte stream into complete events. The pieces, joined, are the stream.

    A blank line ends an event. When its last byte is a CR whose LF is still on the way, the LF
    starts the next piece, where it means nothing. A byte order mark before the first event is left
    out, as readers of streams do: else that event's data would not be seen.
    """

    def __init__(self, limit: int) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._limit = limit
        self._first = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that this chunk completes. Raises `EventTooLarge`."""
        self._buffer += chunk
        if self._first and not _MARK.startswith(bytes(self._buffer[: len(_MARK)])):
            self._first = False
        elif self._first and len(self._buffer) > len(_MARK):
            self._first = False
            del self._buffer[: len(_MARK)]
        events = []
        start = 0
        position = self._searched
        while found := _END.search(self._buffer, position):
            events.append(bytes(self._buffer[start : found.end()]))
            start = position = found.end()
        del self._buffer[:start]
        self._searched = max(0, len(self._buffer) - _LONGEST_END)
        if len(self._buffer) > self._limit:
            raise EventTooLarge
        return events

    def rest(self) -> bytes:
        """What came after the last complete event."""
        return bytes(self._buffer)


def data_of(event: bytes) -> bytes:
    """The data of an event (WHATWG HTML, "event stream interpretation"); empty for a comment."""
    lines = (line for line in _LINE.split(event) if line.startswith(b"data"))
    values = [value for line in lines if (value := _value(line)) is not None]
    return b"\n".join(values)


def is_resumable(event: bytes) -> bool:
    """Whether the event carries an id, so that its stream can be taken up again after it."""
    return any(line.startswith(b"id:") for line in _LINE.split(event))


def with_data(event: bytes, data: bytes) -> bytes:
    """The same event with other data."""
    kept = [line for line in _LINE.split(event) if line and _value(line) is None]
    return b"\n".join([*kept, *(b"data: " + line for line in _LINE.split(data))]) + b"\n\n"


def event_of(data: bytes) -> bytes:
    """A new event of type `message`."""
    return b"event: message\ndata: " + data + b"\n\n"


def _value(line: bytes) -> bytes | None:
    if line == b"data":
        return b""
    return line[5:].removeprefix(b" ") if line.startswith(b"data:") else None
