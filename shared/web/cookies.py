"""Reading a cookie of ours: exactly its name, exactly once, in the letters that we write.

aiohttp's own reading takes Unicode blanks off a name. To a browser, a name behind such a blank has
no `__Host-` prefix, so any sibling host may set it; read that way, it would be our cookie.
"""

import re

from aiohttp import web

_VALUE = re.compile(r"[A-Za-z0-9_-]+")


def read(request: web.Request, name: str, *, longest: int = 64) -> str:
    """The value; empty when the cookie is missing, odd, or there twice (one of them is planted)."""
    pairs = [
        pair.strip(" \t").partition("=")
        for header in request.headers.getall("Cookie", [])
        for pair in header.split(";")
    ]
    values = [value for found, _, value in pairs if found == name]
    if len(values) != 1 or len(values[0]) > longest or not _VALUE.fullmatch(values[0]):
        return ""
    return values[0]
