"""How much memory a JSON text would take, before it is read.

An empty list is two bytes of JSON and more than seventy of memory: sixteen mebibytes of them would
take half a gibibyte, and the relay's container with it. So parts are counted first, not bytes.
"""

import re

MAX_PARTS = 500_000  # some fifty mebibytes at the worst

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_MARKS = (b",", b"[", b"{")


def is_too_heavy(raw: bytes) -> bool:
    """Whether a JSON text holds more than MAX_PARTS strings, commas and brackets.

    What stands inside strings does not count: a long text may hold any number of commas.
    """
    if len(raw) <= MAX_PARTS or _marks(raw, 0, len(raw)) + raw.count(b'"') // 2 <= MAX_PARTS:
        return False
    parts = at = 0
    for string in _STRING.finditer(raw):
        parts += 1 + _marks(raw, at, string.start())
        if parts > MAX_PARTS:
            return True
        at = string.end()
    return parts + _marks(raw, at, len(raw)) > MAX_PARTS


def _marks(raw: bytes, start: int, end: int) -> int:
    return sum(raw.count(mark, start, end) for mark in _MARKS)
