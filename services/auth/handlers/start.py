"""GET /auth/start: keep an attempt, bind it to the browser, go to the provider."""

from aiohttp import web

from services.auth import cookies, links
from services.auth.parts import PARTS
from services.auth.refusals import Refused, problem


async def begin(request: web.Request) -> web.Response:
    """303 to the provider. `choose`: let the person pick an account there (OpenID `prompt`)."""
    parts = request.app[PARTS]
    return_to, trusted = links.wanted(request), links.trusted(request)
    choose, fresh = "choose" in request.query, "fresh" in request.query
    try:
        started = parts.attempts.begin(return_to, trusted=trusted)
        url = await parts.flow.url(started.attempt, choose_account=choose, fresh=fresh)
    except Refused as refused:
        again = links.start(return_to, trusted=trusted, choose_account=choose)
        raise problem(refused, again, again) from refused
    await parts.store.ping()  # else a person is sent away for a sign-in that cannot end
    response = web.Response(status=303, headers={"Location": url})
    cookies.set_attempt(response, started.cookie)
    return response
