"""What auth writes into the audit trail, each time before it takes effect."""

from services.auth.parts import Parts
from shared.contracts.audit import SESSION_CHARS, Entry, Event
from shared.contracts.identity import Person
from shared.ids import new_id


async def note(
    parts: Parts,
    event: Event,
    person: Person,
    *,
    digest: str | None = None,
    token: str | None = None,
    reason: str | None = None,
) -> None:
    """Append one entry. `digest`: of the session that acts. Raises `StoreUnavailable`."""
    entry = Entry(event, new_id(), round(parts.clock(), 3))
    entry.subject, entry.email, entry.token = person.subject, person.email, token
    entry.session = None if digest is None else digest[:SESSION_CHARS]
    entry.decision, entry.reason = "denied" if reason else "allowed", reason
    await parts.trail.now(entry)
