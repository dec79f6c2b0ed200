"""What auth writes into the audit trail, each time before it takes effect.

But for a replay: what it shows to be stolen ends first.
"""

from shared.contracts.audit import SESSION_CHARS, Entry, Event
from shared.contracts.identity import Person
from shared.ids import new_id
from shared.stores.audit import Trail


async def note(
    trail: Trail,
    event: Event,
    person: Person,
    *,
    digest: str | None = None,
    token: str | None = None,
    reason: str | None = None,
    by: str | None = None,
) -> None:
    """Append one entry. `digest`: of the session that acts. `by`: who made it possible.

    Raises `StoreUnavailable`.
    """
    entry = Entry(event, new_id(), round(trail.clock(), 3))
    entry.subject, entry.email, entry.token = person.subject, person.email, token
    entry.session = None if digest is None else digest[:SESSION_CHARS]
    entry.decision, entry.reason, entry.by = "denied" if reason else "allowed", reason, by
    await trail.now(entry)


async def note_done_to(
    trail: Trail,
    event: Event,
    subject: str | None,
    email: str,
    *,
    by: str,
    token: str | None = None,
    reason: str | None = None,
) -> None:
    """Append what an operator, administrator or machine does to a person, or may not.

    Raises `StoreUnavailable`.
    """
    entry = Entry(event, new_id(), round(trail.clock(), 3), subject, email)
    entry.decision, entry.reason = "denied" if reason else "allowed", reason
    entry.by, entry.token = by, token
    await trail.now(entry)


def by_machine(client_id: str | None) -> str | None:
    """How the trail names a machine, in `by` as in `email`."""
    return None if client_id is None else Person.of_machine(client_id, client_id).email
