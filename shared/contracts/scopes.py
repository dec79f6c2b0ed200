"""OAuth scopes at /mcp (RFC 6749 §3.3): `mcp` is every server of a person, `mcp:<slug>` is one."""

from collections.abc import Iterable

from shared.contracts.fields import is_slug

EVERY_SERVER = "mcp"
INSUFFICIENT = "insufficient_scope"  # RFC 6750 §3.1
_ONE = f"{EVERY_SERVER}:"
# asked for by clients that want refresh tokens, which everybody gets who says so
_IGNORED = frozenset({"offline_access"})


def of(servers: Iterable[str] | None) -> str:
    """The scope for these servers; None is every server."""
    if servers is None:
        return EVERY_SERVER
    return " ".join(f"{_ONE}{slug}" for slug in servers if is_slug(slug)) or EVERY_SERVER


def servers(scope: str) -> tuple[str, ...] | None:
    """The servers that a scope asks for; None is every server, as is no scope at all.

    Raises `ValueError` for a scope that there is not.
    """
    found = []
    asked = [one for one in scope.split() if one not in _IGNORED]
    for one in asked:
        slug = one.removeprefix(_ONE)
        if one != EVERY_SERVER and not (one.startswith(_ONE) and is_slug(slug)):
            raise ValueError("there is no such scope")
        found.append(slug)
    return None if EVERY_SERVER in asked or not asked else tuple(dict.fromkeys(found))
