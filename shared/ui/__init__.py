"""What every page of strad is drawn with: one base template, one set of macros, one stylesheet.

README.md in this folder lists the macros and class names.

Templates are escaped by default and a missing variable is an error, not an empty string. Nothing
here needs an inline script or an inline style, so a page can run under
`default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'`.
"""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from shared.contracts.wire import (
    CLIENTS_PATH,
    PEOPLE_PATH,
    SESSIONS_PATH,
    SIGN_OUT_PATH,
    STATIC_PATH,
    TOKENS_PATH,
)

FOLDER = Path(__file__).parent
STYLESHEET = FOLDER / "strad.css"

_CONTENT_TYPES = {
    "strad.css": "text/css; charset=utf-8",
    "copy.js": "text/javascript; charset=utf-8",
    "mark.svg": "image/svg+xml",
}
_TONES = 6


class StaticFile(NamedTuple):
    """One file of the design system, ready to be answered."""

    body: bytes
    content_type: str
    version: str
    """First 12 hex digits of the SHA-256 of `body`: the `?v=` of its URL."""


@cache
def static_files() -> Mapping[str, StaticFile]:
    """The files that a page of strad links to, by name. Read once for each process.

    A service answers `<static_base>/<name>` from this table and nothing else, so no path from a
    request ever reaches the file system. With the right `?v=` an answer may be cached for ever.
    """
    files = {}
    for name, content_type in _CONTENT_TYPES.items():
        body = (FOLDER / name).read_bytes()
        files[name] = StaticFile(body, content_type, hashlib.sha256(body).hexdigest()[:12])
    return MappingProxyType(files)


def environment(*template_dirs: Path | str, static_base: str = STATIC_PATH) -> Environment:
    """A Jinja2 environment over a service's own template folders and, after them, this one.

    `static_base` is the path under which the service answers `static_files()`. Templates get
    `asset(name)`, the URL of one of those files, `paths`, and the filters `initials`, `tone` and
    `code`. Raises KeyError from `asset` for a name that is not in the table.
    """
    env = Environment(
        loader=FileSystemLoader([*template_dirs, FOLDER]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

    def asset(name: str) -> str:
        return f"{static_base}/{name}?v={static_files()[name].version}"

    env.globals["asset"] = asset
    env.globals["paths"] = {
        "home": "/",
        "tokens": TOKENS_PATH,
        "sessions": SESSIONS_PATH,
        "people": PEOPLE_PATH,
        "clients": CLIENTS_PATH,
        "sign_out": SIGN_OUT_PATH,
    }
    env.filters["initials"] = initials
    env.filters["tone"] = tone
    env.filters["code"] = code
    return env


def initials(name: str) -> str:
    """Up to two letters that stand for a name: `Ada Lovelace` gives `AL`, nothing gives `?`."""
    words = [word for word in name.split() if word[0].isalnum()]
    if not words:
        return "?"
    chosen = words[:1] if len(words) == 1 else [words[0], words[-1]]
    return "".join(word[0] for word in chosen).upper()


def tone(name: str) -> int:
    """A number from 1 to 6, the same for the same name at every start: the tint of its tile."""
    return hashlib.sha256(name.encode()).digest()[0] % _TONES + 1


def code(text: str) -> Markup:
    """A text of ours as a page shows it: what stands between backticks is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704
