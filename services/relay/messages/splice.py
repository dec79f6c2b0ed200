"""Changing one text in a JSON document and not one byte beside it.

Reading and writing anew would round numbers, and turn 1e999 into what is no JSON.
"""

import json
from collections.abc import Iterator

from services.relay.messages import rpc

_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)  # numbers are passed over, not read


def with_text(raw: bytes, path: tuple[str, ...], text: str) -> bytes:
    """The document with `text` as the value at `path`, wherever that is named.

    `raw` must be JSON that was read already. A path that leads nowhere changes nothing. Raises a
    `Problem` for a value nested too deep to be passed over.
    """
    document = raw.decode()
    try:
        found = list(_values(document, 0, path))
    except RecursionError as error:
        raise rpc.too_deep() from error
    for start, end in reversed(found):
        document = document[:start] + json.dumps(text) + document[end:]
    return document.encode()


def _values(document: str, at: int, path: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where the values at `path` stand, in order; more than one if a name is repeated."""
    for name, start, end in _members(document, at):
        if name == path[0]:
            if len(path) == 1:
                yield start, end
            else:
                yield from _values(document, start, path[1:])


def _members(document: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The members of the object that begins here; none of anything else."""
    at = _skip(document, at)
    if document[at] != "{":
        return
    at = _skip(document, at + 1)
    while document[at] != "}":
        name, at = _DECODER.raw_decode(document, at)
        start = _skip(document, _skip(document, at) + 1)  # the colon
        _, end = _DECODER.raw_decode(document, start)
        yield name, start, end
        at = _skip(document, end)
        if document[at] == ",":
            at = _skip(document, at + 1)


def _skip(document: str, at: int) -> int:
    while document[at] in _BLANK:
        at += 1
    return at
