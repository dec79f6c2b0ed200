"""Names in the merged view: which server something belongs to, readable and reversible.

A tool or prompt is `slug__name`. Hosts hand tool names to models, and those take 64 characters of
`[A-Za-z0-9_-]`: any other name is shortened and cleaned, and ends in a digest of the real one. A
slug holds no `_`, so the first `__` divides. A name depends on its own server only: it stays when
other servers come and go.

A page `ui://rest` is `ui://slug/rest`, because hosts know pages by their scheme. Any other address
is `strad+slug:address`: a URI (RFC 3986) whose path is opaque to parsers, so none cleans it up; and
since both only put letters in front, a template (RFC 6570) expands to what its expansion is called.
"""

import base64
import hashlib
import re
from collections.abc import Iterable

from shared.contracts.fields import is_slug
from shared.contracts.wire import UI_SCHEME

MAX_LENGTH = 64
_BETWEEN = "__"
_SCHEME = "strad+"
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
_DIGEST_CHARS = 10  # of 5 bits
_MARKED = re.compile(r".*-[a-z2-7]{10}", re.DOTALL)


def expose(slug: str, own: str) -> str:
    """The merged view's name of a tool or prompt."""
    name = f"{slug}{_BETWEEN}{own}"
    if own and len(name) <= MAX_LENGTH and _PLAIN.fullmatch(name) and not _MARKED.fullmatch(own):
        return name
    digest = hashlib.sha256(own.encode("utf-8", "surrogatepass")).digest()
    mark = base64.b32encode(digest).decode().lower()[:_DIGEST_CHARS]
    room = MAX_LENGTH - len(slug) - len(_BETWEEN) - len(mark) - 1
    return f"{slug}{_BETWEEN}{_UNFIT.sub('-', own)[:room]}-{mark}"


def split(name: str) -> tuple[str, str] | None:
    """(slug, rest) of an exposed name; None when it is not one.

    The rest is the tool's own name if `expose` makes `name` of it again; else see `find`.
    """
    slug, between, rest = name.partition(_BETWEEN)
    return (slug, rest) if slug and between and rest else None


def is_bare(name: str) -> bool:
    """Whether a name cannot be an exposed one: then it may be what a server itself calls a tool.

    What could be exposed belongs to the server in it, also when that is gone: nobody inherits it.
    """
    parts = split(name)
    return parts is None or not is_slug(parts[0])


def is_bare_uri(uri: str) -> bool:
    """The same of an address: a page's always has a server's place in it."""
    return not uri.startswith((UI_SCHEME, _SCHEME))


def find(name: str, slug: str, owns: Iterable[str]) -> str | None:
    """The one of a server's own names that is exposed as `name`."""
    return next((own for own in owns if expose(slug, own) == name), None)


def expose_uri(slug: str, uri: str) -> str:
    """The merged view's form of an address, or of a template of addresses."""
    if uri.startswith(UI_SCHEME):
        return f"{UI_SCHEME}{slug}/{uri.removeprefix(UI_SCHEME)}"
    return f"{_SCHEME}{slug}:{uri}"


def split_uri(uri: str) -> tuple[str, str] | None:
    """(slug, the server's own address) of an exposed one; None when it is not one."""
    if uri.startswith(UI_SCHEME):
        slug, between, rest = uri.removeprefix(UI_SCHEME).partition("/")
        return (slug, UI_SCHEME + rest) if slug and between else None
    slug, between, rest = uri.removeprefix(_SCHEME).partition(":")
    return (slug, rest) if uri.startswith(_SCHEME) and slug and between else None
