"""What auth writes into the audit trail, each time before it takes effect.

But for a replay: what it shows to be stolen ends first.
"""

from typing import cast

from shared.contracts.audit import SESSION_CHARS, Entry, Event, Kept, Logged
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
    session = None if digest is None else digest[:SESSION_CHARS]
    whose = {"subject": person.subject, "session": session, "token": token}
    await _append(trail, event, person.email, reason, by=by, **whose)


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
    await _append(trail, event, email, reason, subject=subject, token=token, by=by)


def by_machine(client_id: str | None) -> str | None:
    """How the trail names a machine, in `by` as in `email`."""
    return None if client_id is None else Person.of_machine(client_id, client_id).email


async def _append(
    trail: Trail, event: Event, email: str, reason: str | None, **told: str | None
) -> None:
    kept: Kept = {"event": event, "id": new_id(), "time": round(trail.clock(), 3), "email": email}
    told |= {"decision": "denied" if reason else "allowed", "reason": reason}
    known = {name: value for name, value in told.items() if value is not None}
    await trail.now(Entry(kept, cast("Logged", known)))
