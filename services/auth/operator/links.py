"""`login-link`."""

from services.auth.login_links import LINK_SECONDS
from services.auth.operator.desk import Desk, Unknown
from shared.contracts.audit import Event


async def make(desk: Desk, email: str, to: str) -> str:
    """The address of a new sign-in link for somebody who has signed in before. Raises `Unknown`."""
    person = await desk.people.find(email)
    if person is None:
        raise Unknown(email)
    await desk.note(Event.LINK_MADE, person.subject, email)
    path = await desk.login_links.make(person, to)
    return f"{desk.config.public_url}{path}\nIt works once, within {LINK_SECONDS // 60} minutes."
