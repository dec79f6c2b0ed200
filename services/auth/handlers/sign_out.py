"""POST /auth/sign-out, and the page after it."""

from aiohttp import web

from services.auth import cookies, links
from services.auth.parts import PARTS
from services.auth.trail import note
from shared import log
from shared.contracts.audit import Event
from shared.web.pages import html


async def end(request: web.Request) -> web.Response:
    """End this browser's session at the server, and make the browser forget it.

    Public, so that a session that has ended meanwhile is no obstacle; the origin check still holds.
    """
    parts = request.app[PARTS]
    if cookie := cookies.session(request):
        digest = parts.sessions.digest(cookie)
        if (session := await parts.sessions.find(digest)) is not None:
            await note(parts.trail, Event.SIGNED_OUT, session.person, digest=digest)
        await parts.sessions.end(digest)
        log.event("signed-out")
    response = web.Response(status=303, headers={"Location": links.SIGNED_OUT_PATH})
    cookies.clear_session(response)
    if parts.config.public_url.startswith("https:"):
        # what a Back button could still show; browsers take this header over https only
        response.headers["Clear-Site-Data"] = '"cache"'
    return response


async def show(request: web.Request) -> web.Response:
    """The page after a sign-out."""
    parts = request.app[PARTS]
    return html(
        request,
        parts.pages,
        "signed_out.html",
        provider=parts.flow.provider_name,
        again=links.sign_in(),
        other_account=links.start("/", trusted=True, choose_account=True),
    )
