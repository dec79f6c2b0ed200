"""The parameters of a request: each once, short, and in letters that can be passed on."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from aiohttp import web

from shared.web import body
from shared.web.origin import require_form

MAX_LETTERS = 1500
_PRINTABLE = re.compile(r"[ -~]*")
_NONE_LONGER: Mapping[str, int] = MappingProxyType({})
_QUOTES = frozenset('"\\')


class Malformed(Exception):
    """A request whose parameters cannot be believed (RFC 6749 §3.1, "invalid_request")."""


def read(
    pairs: Iterable[tuple[str, object]],
    known: frozenset[str],
    longer: Mapping[str, int] = _NONE_LONGER,
) -> dict[str, str]:
    """The known ones; others are left alone. `longer`: letters of those that may have more.

    Raises `Malformed`.
    """
    found: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            continue
        if name in found:
            raise Malformed(f"{name} is there twice.")
        if (
            not isinstance(value, str)
            or len(value) > longer.get(name, MAX_LETTERS)
            or not _PRINTABLE.fullmatch(value)
        ):
            raise Malformed(f"{name} is too long, or holds odd letters.")
        if name != "state" and not _QUOTES.isdisjoint(value):
            raise Malformed(f"{name} holds odd letters.")
        if value:
            # RFC 6749 §3.1: without a value it counts as left out
            found[name] = value
    return found


async def of_form(
    request: web.Request, *known: str, longer: Mapping[str, int] = _NONE_LONGER
) -> dict[str, str]:
    """Those of a form. Raises `Malformed`."""
    require_form(request)
    await body.read(request)
    return read((await request.post()).items(), frozenset(known), longer)


def refused(error: str, description: str, status: int = 400) -> web.Response:
    """An error as RFC 6749 §5.2 writes it."""
    return web.json_response({"error": error, "error_description": description}, status=status)
