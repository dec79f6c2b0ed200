"""GET /auth/sign-in: the page with the one button."""

from aiohttp import web

from services.auth import links
from services.auth.parts import PARTS
from services.auth.return_to import HOME
from shared.web.pages import html


async def show(request: web.Request) -> web.Response:
    """Whoever is signed in already goes on. Everybody else is asked to press the button."""
    parts = request.app[PARTS]
    return_to = links.wanted(request)
    # a marked link must not bounce: from a page of ours the bounce would look like our own click
    if not links.marked(request) and await parts.identify(request) is not None:
        raise web.HTTPSeeOther(return_to)
    return html(
        request,
        parts.pages,
        "sign_in.html",
        provider=parts.flow.provider_name,
        start=links.start(return_to, trusted=links.trusted(request)),
        going_to="" if return_to == HOME else return_to,
    )
