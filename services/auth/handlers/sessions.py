"""/auth/sessions: where a person is signed in. End one, or all."""

from aiohttp import web

from services.auth import cookies, links
from services.auth.acting import may_change, require_change
from services.auth.parts import PARTS, Parts
from services.auth.session_pages import ID_CHARS, row
from services.auth.trail import note
from shared import keys, log
from shared.contracts.audit import Event
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import PEOPLE_PATH, SESSIONS_PATH
from shared.web.pages import html
from shared.web.routes import PRINCIPAL


async def show(request: web.Request) -> web.Response:
    """GET: the list, newest first."""
    parts, principal = request.app[PARTS], request[PRINCIPAL]
    mine = await parts.sessions.of(principal.subject)
    seen = await parts.store.get_many([keys.SESSION_SEEN.key(digest) for digest in mine])
    now = parts.clock()
    rows = [
        row(digest, session, used, principal.digest, now)
        for (digest, session), used in zip(mine.items(), seen, strict=True)
    ]
    return html(
        request,
        parts.pages,
        "sessions.html",
        sessions=rows,
        ended="ended" in request.query,
        may_change=may_change(principal),
        people=PEOPLE_PATH if parts.admission.administers(principal.person) else "",
        here="sessions",
    )


async def end(request: web.Request) -> web.Response:
    """POST: end one of one's own. Somebody else's is as unknown as one that never was."""
    parts, principal = request.app[PARTS], request[PRINCIPAL]
    require_change(principal)
    wanted = request.match_info["id"]
    mine = await parts.sessions.of(principal.subject)
    digest = next((one for one in mine if one[:ID_CHARS] == wanted), None)
    if digest is None:
        raise Problem(
            ProblemKind.NOT_FOUND,
            "You have no such session.",
            "Perhaps it has ended already: look at the list of your sessions.",
        )
    await _ended(parts, principal, digest)
    if digest == principal.digest:
        return _signed_out()
    return web.Response(status=303, headers={"Location": f"{SESSIONS_PATH}?ended"})


async def end_all(request: web.Request) -> web.Response:
    """POST: sign out everywhere, here too. Access tokens stay: they have a page of their own."""
    parts, principal = request.app[PARTS], request[PRINCIPAL]
    require_change(principal)
    for digest in await parts.sessions.of(principal.subject):
        await _ended(parts, principal, digest)
    await parts.sessions.end_all(principal.subject)
    return _signed_out()


async def _ended(parts: Parts, principal: Principal, digest: str) -> None:
    await note(parts.trail, Event.SIGNED_OUT, principal.person, digest=digest)
    await parts.sessions.end(digest)
    log.event("signed-out")


def _signed_out() -> web.Response:
    response = web.Response(status=303, headers={"Location": links.SIGNED_OUT_PATH})
    cookies.clear_session(response)
    return response
