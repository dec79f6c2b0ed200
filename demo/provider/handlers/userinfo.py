"""GET and POST /userinfo (OpenID Connect Core 1.0 §5.3)."""

from aiohttp import web

from demo.provider.state import PROVIDER
from demo.provider.tokens import about


async def userinfo(request: web.Request) -> web.Response:
    provider = request.app[PROVIDER]
    scheme, _, access = request.headers.get("Authorization", "").partition(" ")
    grant = provider.ledger.bearer(access) if scheme.lower() == "bearer" else None
    if grant is None:
        raise web.HTTPUnauthorized(
            text="Send the access token of a sign-in from the last minutes.",
            headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
        )
    return web.json_response(about(grant, provider.faults))
