"""What the page about sessions shows."""

from dataclasses import dataclass
from datetime import UTC, datetime

from services.auth.token_pages import day
from shared.contracts.audit import SESSION_CHARS
from shared.contracts.identity import Session, SessionKind

ID_CHARS = SESSION_CHARS  # the name of a session in the audit trail: no use as an address


@dataclass(frozen=True, slots=True)
class Row:
    """One session in words. `current`: of the browser that asks. `link`: by a sign-in link."""

    id: str
    device: str
    first: str
    last: str
    current: bool
    link: bool


def row(digest: str, session: Session, seen: bytes | None, current: str, now: float) -> Row:
    """One row. `seen`: the console's note of the last use; `current`: the digest of who asks."""
    used = _time(seen, now)
    return Row(
        id=digest[:ID_CHARS],
        device=session.device or "Unknown browser",
        first=_moment(session.created),
        last="Now" if digest == current else _moment(max(session.created, used)),
        current=digest == current,
        link=session.kind is SessionKind.TOKEN,
    )


def _time(seen: bytes | None, now: float) -> float:
    try:
        moment = float(seen or 0)
    except ValueError:  # anything can stand in Redis
        return 0.0
    return moment if 0 < moment <= now + 60 else 0.0


def _moment(moment: float) -> str:
    return f"{day(moment)}, {datetime.fromtimestamp(moment, UTC):%H:%M} UTC"
