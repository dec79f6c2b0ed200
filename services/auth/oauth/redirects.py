"""Where a client may have its answers sent: exact addresses, and loopback with any port.

RFC 9700 §4.1, RFC 8252 §7. A private-use scheme leads to a program on the person's machine, whose
name for itself anybody could use: such a client is never answered without a press.
"""

import re
from urllib.parse import SplitResult, urlsplit

from shared.contracts.fields import is_loopback

MAX_LENGTH = 500
_LETTERS = re.compile(r"[!#-\[\]-~]+")  # visible ASCII, but for the quote and the backslash
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
# schemes that a browser itself acts on, or that lead to no program of the person's
_NEVER = frozenset(
    {"about", "blob", "chrome", "content", "data", "file", "filesystem", "ftp", "intent"}
    | {"javascript", "jar", "mailto", "resource", "sms", "tel", "vbscript", "view-source"}
    | {"ws", "wss"}
)


def usable(uri: str) -> bool:
    """Whether answers may be sent to such an address at all."""
    parts = _split(uri)
    if parts is None or not _SCHEME.fullmatch(parts.scheme) or parts.scheme in _NEVER:
        return False
    if parts.scheme == "https":
        return bool(parts.hostname)
    if parts.scheme == "http":
        return _is_loopback(parts)
    return "." in parts.scheme or "://" in uri


def same(registered: str, asked: str) -> bool:
    """Whether an address that is asked for is a registered one."""
    if registered == asked:
        return usable(asked)
    one, other = _split(registered), _split(asked)
    if one is None or other is None or not (_is_loopback(one) and _is_loopback(other)):
        return False
    return _without_port(one) == _without_port(other)


def vouched_for(uri: str) -> bool:
    """Whether only one party can receive what is sent there: the host of an https address."""
    parts = urlsplit(uri)
    return parts.scheme == "https" and not is_loopback(parts.hostname or "")


def place(uri: str) -> str:
    """What to call the address before a person."""
    parts = urlsplit(uri)
    if parts.scheme == "http" or is_loopback(parts.hostname or ""):
        return f"a program on this computer ({parts.netloc})"
    return parts.netloc if parts.scheme == "https" else f"a program on this computer ({uri})"


def _split(uri: str) -> SplitResult | None:
    if len(uri) > MAX_LENGTH or not _LETTERS.fullmatch(uri):
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    if parts.fragment or uri.endswith("#") or parts.username is not None or "@" in parts.netloc:
        return None
    return parts


def _is_loopback(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    return parts.scheme == "http" and host in {"127.0.0.1", "::1", "localhost"}


def _without_port(parts: SplitResult) -> tuple[str, str | None, str, str]:
    return parts.scheme, parts.hostname, parts.path, parts.query
