"""What `resources/read` brought, checked: one HTML document of the Apps profile, not too large.

SEP-1865, "UI resource format". Every refusal is a `Problem` that its author can act on.
"""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import Any

from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import APP_MIME_TYPE

MAX_BYTES = 5 * 1024 * 1024
_MEGA = 1024 * 1024
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER = re.compile(rf"[ \t]*;[ \t]*({_WORD})=(?:({_WORD})|\"([^\"\\]*)\")")
_HTML = re.compile(r"[ \t]*text/html(?=[ \t]*(?:;|$))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Page:
    """A server's document. `html`: its own bytes, UTF-8. `ui`: the item's `_meta.ui`, or None."""

    html: bytes
    ui: dict[str, Any] | None

    @property
    def digest(self) -> str:
        """SHA-256 of the server's bytes, in hex: nothing that strad adds is in it."""
        return hashlib.sha256(self.html).hexdigest()


def read_page(result: dict[str, Any]) -> Page:
    """The page in a `resources/read` result. Raises `Problem`: wrong type, too large, invalid."""
    contents = result.get("contents")
    if not isinstance(contents, list) or len(contents) != 1 or not isinstance(contents[0], dict):
        count = len(contents) if isinstance(contents, list) else 0
        raise _invalid(f"It came as {count} items; a page is exactly one.")
    item = contents[0]
    if not is_app_type(item.get("mimeType")):
        title = "The server sent something that is not a page for a console."
        advice = f"Its type is {_shown(item.get('mimeType'))}; it must be {APP_MIME_TYPE}."
        raise Problem(ProblemKind.PAGE_WRONG_TYPE, title, advice)
    return Page(_bytes_of(item), ui_meta(item))


def is_app_type(value: object) -> bool:
    """Whether a MIME type is `text/html` with `profile=mcp-app`, however it is written.

    A charset may be named if it is UTF-8, which is how the page is served.
    """
    if not isinstance(value, str) or len(value) > 200 or not (html := _HTML.match(value)):
        return False
    at, found = html.end(), []
    while parameter := _PARAMETER.match(value, at):
        name, bare, quoted = parameter.groups()
        found.append((name.lower(), bare if bare is not None else quoted))
        at = parameter.end()
    named = dict(found)
    return (
        not value[at:].strip(" \t")
        and len(named) == len(found)  # a name given twice is read differently by everybody
        and named.get("profile") == "mcp-app"
        and named.get("charset", "utf-8").lower() in {"utf-8", "utf8"}
    )


def ui_meta(item: dict[str, Any]) -> dict[str, Any] | None:
    """The `_meta.ui` of a content item or a listing; None when there is none."""
    meta = item.get("_meta")
    ui = meta.get("ui") if isinstance(meta, dict) else None
    return ui if isinstance(ui, dict) else None


def _bytes_of(item: dict[str, Any]) -> bytes:
    text, blob = item.get("text"), item.get("blob")
    if isinstance(text, str) and blob is None:
        _check_size(len(text))  # a character is at least a byte
        html = _encode(text)
    elif isinstance(blob, str) and text is None:
        _check_size(len(blob) * 3 // 4 - 3)
        html = _decode(blob)
    else:
        raise _invalid("It must hold either `text` or a base64 `blob`.")
    _check_size(len(html))
    if not html.strip():
        raise _invalid("It is empty.")
    return html


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise _invalid("Its text holds half a character.") from error


def _decode(blob: str) -> bytes:
    try:
        html = base64.b64decode(blob, validate=True)
        html.decode()
    except binascii.Error as error:
        raise _invalid("Its `blob` is not base64.") from error
    except UnicodeDecodeError as error:
        raise _invalid("Its `blob` is not UTF-8.") from error
    return html


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        title = "The server's page is too large to show."
        advice = f"It is {size / _MEGA:.1f} MB; the limit is {MAX_BYTES // _MEGA} MB."
        raise Problem(ProblemKind.PAGE_TOO_LARGE, title, advice)


def _invalid(advice: str) -> Problem:
    return Problem(ProblemKind.PAGE_INVALID, "The server's page cannot be shown.", advice)


def _shown(value: object) -> str:
    return f"“{value[:80]}”" if isinstance(value, str) and value else "missing"
