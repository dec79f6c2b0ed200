"""`people unbind`, `sessions end`."""

from services.auth.operator.desk import Desk
from shared.contracts.audit import Event


async def unbind(desk: Desk, email: str) -> str:
    """Free an address for the next subject that signs in with it; what the last one holds ends.

    Also where the binding cannot be read: then nobody is known whose sessions could be ended.
    """
    subject = await desk.people.subject_of(email)
    await desk.note(Event.ADDRESS_UNBOUND, subject, email)
    await desk.people.unbind(email)
    if subject is None:
        return f"{email} is bound to nobody."
    ended = await desk.end(subject)
    return f"{email} is free. Ended for the account that had it: {ended}."


async def end(desk: Desk, email: str) -> str:
    """End all sessions, tokens and clients of a person. Raises `Unknown`."""
    subject = await desk.subject(email)
    await desk.note(Event.PERSON_ENDED, subject, email)
    return f"Ended for {email}: {await desk.end(subject)}."
