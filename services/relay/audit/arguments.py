"""What a request was made with, as the audit trail may know it: a digest, or redacted text."""

import re
from typing import Any

from shared import numbers

MOST_CHARS = 4096
REMOVED = "[removed]"
_DEPTH = 8
_SECRET = re.compile(
    r"pass(word|phrase|code|wd)|secret|token|credential|authorization|cookie|api.?key|private.?key",
    re.IGNORECASE,
)


def canonical(arguments: Any) -> str | None:
    """One text for equal arguments, whatever the order of members; None when nested too deep."""
    try:
        return numbers.dumps(arguments, ascii_only=True, in_order=True)
    except RecursionError:
        return None


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
