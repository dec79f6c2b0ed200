"""Structured logs: one JSON object a line on standard output, of named fields only.

Never logged: cookies, tokens, Authorization, query strings, tool arguments and results.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from aiohttp.http_exceptions import HttpProcessingError

_LOGGER = logging.getLogger("strad")
_ENCODE = json.JSONEncoder(default=str).encode


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        fields |= getattr(record, "fields", {})
        if record.exc_info:
            error = record.exc_info[1]
            # its text quotes the request: a cookie, a token, the code of a sign-in
            quotes = isinstance(error, HttpProcessingError)
            fields["error"] = (
                type(error).__name__ if quotes else self.formatException(record.exc_info)
            )
        return _ENCODE(fields)


def configure() -> None:
    """Send all logging of this process to standard output as JSON lines."""
    # no line says which thread or process wrote it
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _LOGGER.setLevel(logging.INFO)


def event(name: str, **fields: Any) -> None:
    """Log something that happened. Field values are short and hold no secret."""
    if _LOGGER.isEnabledFor(logging.INFO):
        # one for each request: without looking up where in the code this is, which no line says
        record = logging.LogRecord(_LOGGER.name, logging.INFO, "", 0, name, None, None)
        record.fields = fields
        _LOGGER.handle(record)


def warning(name: str, **fields: Any) -> None:
    """Log something an operator should look at."""
    _LOGGER.warning(name, extra={"fields": fields})


def failure(name: str, **fields: Any) -> None:
    """Log an unexpected error with its traceback; call it while handling the exception."""
    _LOGGER.error(name, exc_info=True, extra={"fields": fields})
