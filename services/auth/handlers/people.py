"""/auth/people: for administrators: end all that a person holds."""

from aiohttp import web
from pydantic import TypeAdapter, ValidationError

from services.auth.acting import may_change, require_change
from services.auth.ending import end_everything
from services.auth.oauth.parts import OAUTH
from services.auth.parts import PARTS
from services.auth.trail import note_done_to
from shared import log
from shared.contracts.audit import Event
from shared.contracts.fields import Email
from shared.web import body
from shared.web.origin import require_form
from shared.web.pages import html
from shared.web.routes import PRINCIPAL

_EMAIL: TypeAdapter[str] = TypeAdapter(Email)


async def show(request: web.Request) -> web.Response:
    """GET: the form."""
    return _page(request)


async def end(request: web.Request) -> web.Response:
    """POST: end all sessions and access tokens of the person with this address."""
    parts, principal = request.app[PARTS], request[PRINCIPAL]
    require_change(principal)
    require_form(request)
    await body.read(request)
    given = str((await request.post()).get("email", "")).strip()
    try:
        email = _EMAIL.validate_python(given)
    except ValidationError:
        return _page(request, email=given[:254], error="Write one e-mail address.")
    subject = await parts.people.subject_of(email)
    if subject is None:
        return _page(request, email=email, error="Nobody has signed in with this address.")
    await note_done_to(parts.trail, Event.PERSON_ENDED, subject, email, by=principal.subject)
    clients = request.app[OAUTH].store
    ended = await end_everything(parts.sessions, parts.tokens, clients, subject)
    log.event("person-ended", subject=subject, by=principal.subject)
    return _page(request, done=f"Ended for {email}: {ended}.")


def _page(
    request: web.Request, *, email: str = "", error: str = "", done: str = ""
) -> web.Response:
    return html(
        request,
        request.app[PARTS].pages,
        "people.html",
        status=422 if error else 200,
        email=email,
        error=error,
        done=done,
        may_change=may_change(request[PRINCIPAL]),
    )
