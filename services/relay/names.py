"""Names in the merged view: which server a tool or a page belongs to, readable and reversible.

A tool is `slug__name`. Hosts hand tool names to models, and those take 64 characters of
`[A-Za-z0-9_-]`: any other name is shortened and cleaned, and ends in a digest of the real one. A
slug holds no `_`, so the first `__` divides. A name depends on its own server only: it stays when
other servers come and go.
"""

import base64
import hashlib
import re
from collections.abc import Iterable

from shared.contracts.wire import UI_SCHEME

MAX_LENGTH = 64
_BETWEEN = "__"
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST_CHARS = 10  # of 5 bits
_MARKED = re.compile(r".*-[a-z2-7]{10}", re.DOTALL)


def expose(slug: str, tool: str) -> str:
    """The merged view's name of a tool."""
    name = f"{slug}{_BETWEEN}{tool}"
    if len(name) <= MAX_LENGTH and _PLAIN.fullmatch(name) and not _MARKED.fullmatch(tool):
        return name
    digest = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).digest()
    mark = base64.b32encode(digest).decode().lower()[:_DIGEST_CHARS]
    room = MAX_LENGTH - len(slug) - len(_BETWEEN) - len(mark) - 1
    return f"{slug}{_BETWEEN}{_UNFIT.sub('-', tool)[:room]}-{mark}"


def split(name: str) -> tuple[str, str] | None:
    """(slug, rest) of an exposed name; None when it is not one.

    The rest is the tool's own name if `expose` makes `name` of it again; else see `find`.
    """
    slug, between, rest = name.partition(_BETWEEN)
    return (slug, rest) if slug and between and rest else None


def find(name: str, slug: str, tools: Iterable[str]) -> str | None:
    """The tool of this server that is exposed under `name`."""
    return next((tool for tool in tools if expose(slug, tool) == name), None)


def expose_uri(slug: str, uri: str) -> str:
    """A page's address with its server in it; other addresses stay as they are."""
    if not uri.startswith(UI_SCHEME):
        return uri
    return f"{UI_SCHEME}{slug}/{uri.removeprefix(UI_SCHEME)}"


def split_uri(uri: str) -> tuple[str, str] | None:
    """(slug, the server's own address) of an exposed page address; None when it is not one."""
    if not uri.startswith(UI_SCHEME):
        return None
    slug, between, rest = uri.removeprefix(UI_SCHEME).partition("/")
    return (slug, UI_SCHEME + rest) if slug and between else None
