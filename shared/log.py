"""Structured logs: one JSON object a line on standard output, of named fields only.

Never logged: cookies, tokens, Authorization, query strings, tool arguments and results.
"""

import asyncio
import functools
import logging
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from aiohttp.http_exceptions import HttpProcessingError

from shared.compact import compact

_LOGGER = logging.getLogger("strad")
_TOGETHER_SECONDS = 0.05

Fields = Callable[[], dict[str, Any]]


class Lines(logging.StreamHandler[TextIO]):
    """Writes lines. Those of requests that end together are written together, all in order."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._held: list[tuple[float, str, Fields]] = []

    def hold(self, name: str, fields: Fields) -> None:
        """A line for an event, within _TOGETHER_SECONDS or before any other line.

        `fields` makes them then.
        """
        self._held.append((time.time(), name, fields))
        if len(self._held) > 1:
            return
        try:
            asyncio.get_running_loop().call_later(_TOGETHER_SECONDS, self.flush)
        except RuntimeError:
            self.flush()

    def emit(self, record: logging.LogRecord) -> None:
        """One line of the standard kind, after all that are held."""
        self._write_held()
        super().emit(record)

    def flush(self) -> None:
        """Write what is held; at the end of the process `logging` sees to it."""
        self._write_held()
        super().flush()

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", {})
        if record.exc_info:
            error = record.exc_info[1]
            # its text quotes the request: a cookie, a token, the code of a sign-in
            quotes = isinstance(error, HttpProcessingError)
            text = type(error).__name__ if quotes else _TRACES.formatException(record.exc_info)
            fields = {**fields, "error": text}
        return _line(record.created, record.levelname.lower(), record.getMessage(), fields)

    def _write_held(self) -> None:
        if self._held:
            held, self._held = self._held, []
            # one after the other they cost half of what each costs in the middle of a request
            self.stream.write("".join(self._made(*one) for one in held))

    @staticmethod
    def _made(at: float, name: str, fields: Fields) -> str:
        try:
            return _line(at, "info", name, fields()) + "\n"
        except Exception as error:  # the others must not be lost with it
            lost = {"of": name, "error": type(error).__name__}
            return _line(at, "error", "line-lost", lost) + "\n"


_TRACES = logging.Formatter()
_lines: Lines | None = None  # None: whoever runs this has a log of his own


def configure() -> None:
    """Send all logging of this process to standard output as JSON lines."""
    global _lines
    _lines = Lines(sys.stdout)
    root = logging.getLogger()
    root.handlers[:] = [_lines]
    root.setLevel(logging.WARNING)
    _LOGGER.setLevel(logging.INFO)


def event(name: str, **fields: Any) -> None:
    """Log something that happened. Field values are short and hold no secret."""
    _LOGGER.info(name, extra={"fields": fields})


def request(fields: Fields) -> None:
    """Log a request that was answered: an event `request`, within _TOGETHER_SECONDS.

    `fields`: makes them when they are written.
    """
    if _lines is not None:
        # what `logging` does for a line costs more than the line
        _lines.hold("request", fields)
    else:
        event("request", **fields())


def warning(name: str, **fields: Any) -> None:
    """Log something an operator should look at."""
    _LOGGER.warning(name, extra={"fields": fields})


def failure(name: str, **fields: Any) -> None:
    """Log an unexpected error with its traceback; call it while handling the exception."""
    _LOGGER.error(name, exc_info=True, extra={"fields": fields})


def _line(at: float, level: str, name: str, fields: dict[str, Any]) -> str:
    second, ms = divmod(int(at * 1000), 1000)
    moment = f"{_second(second)}.{ms:03d}+00:00"
    return compact({"time": moment, "level": level, "event": name, **fields}).decode()


@functools.lru_cache(1)
def _second(at: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
