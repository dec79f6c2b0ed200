"""What a request was made with, as the audit trail may know it: a digest, or redacted text."""

import re
from collections.abc import Callable
from typing import Any

from shared import numbers

MOST_CHARS = 4096
REMOVED = "[removed]"
TOO_DEEP = "(nested too deep)"
_DEPTH = 8
_SECRET = re.compile(
    r"pass(word|phrase|code|wd)|secret|token|credential|authorization|cookie|api.?key|private.?key",
    re.IGNORECASE,
)


class Fingerprint:
    """The keyed digest of arguments, as text: equal for equal ones, in whatever order of members.

    It is worked out when it is first written, which is soon: together with those of other requests
    it costs half of what it costs in the middle of one. Until then it holds the arguments.
    """

    __slots__ = ("_arguments", "_digest", "_text")

    def __init__(self, arguments: Any, digest: Callable[[str], str]) -> None:
        self._arguments = arguments
        self._digest = digest
        self._text: str | None = None

    def __str__(self) -> str:
        if self._text is None:
            self._text = self._worked_out()
            self._arguments = None
        return self._text

    def _worked_out(self) -> str:
        try:
            return self._digest(numbers.dumps(self._arguments, ascii_only=True, in_order=True))
        except RecursionError:
            return TOO_DEEP


def redacted(arguments: Any) -> str:
    """The arguments without what a member's name calls a secret, cut to MOST_CHARS."""
    text = numbers.dumps(_without_secrets(arguments, 0), ascii_only=False)
    return text if len(text) <= MOST_CHARS else text[:MOST_CHARS] + "…"


def _without_secrets(value: Any, depth: int) -> Any:
    if depth > _DEPTH:
        return REMOVED
    if isinstance(value, dict):
        return {
            name: REMOVED if _SECRET.search(name) else _without_secrets(inner, depth + 1)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_without_secrets(inner, depth + 1) for inner in value]
    return value
