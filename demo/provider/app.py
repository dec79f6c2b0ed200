"""The only wiring: routes, headers, and the refusal of any other Host."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from demo.provider import pages
from demo.provider.faults import Faults
from demo.provider.handlers import authorize, discovery, userinfo
from demo.provider.handlers import faults as fault_switches
from demo.provider.handlers import token as code_exchange
from demo.provider.keys import Keys
from demo.provider.ledger import Ledger
from demo.provider.settings import Settings
from demo.provider.state import PROVIDER, Provider

BACK_CHANNEL = ("/.well-known/openid-configuration", "/token", "/jwks", "/userinfo")
STYLESHEET = Path(__file__).parent / "signin.css"


def create_app(
    settings: Settings, keys: Keys | None = None, clock: Callable[[], float] = time.time
) -> web.Application:
    """`settings.issuer` must be set. Without `keys`, a key is made or read from STATE_DIR."""
    app = web.Application(middlewares=[known_host, slow, plain_problems], client_max_size=65536)
    app[PROVIDER] = Provider(
        settings, keys or Keys(settings.state_dir), Ledger(clock), Faults(), clock
    )
    app.on_response_prepare.append(add_headers)
    app.add_routes(
        [
            web.get("/", front),
            web.get("/healthz", healthz),
            web.get("/signin.css", stylesheet),
            web.get("/.well-known/openid-configuration", discovery.configuration),
            web.get("/jwks", discovery.jwks),
            web.get("/authorize", authorize.show),
            web.post("/authorize", authorize.choose),
            web.post("/token", code_exchange.token),
            web.get("/userinfo", userinfo.userinfo),
            web.post("/userinfo", userinfo.userinfo),
        ]
    )
    if settings.faults:
        app.router.add_get("/faults", fault_switches.faults)
        app.router.add_post("/faults", fault_switches.faults)
    return app


async def front(request: web.Request) -> web.Response:
    return pages.front(request.app[PROVIDER].settings)


async def healthz(_request: web.Request) -> web.Response:
    return web.Response(text="ok")


async def stylesheet(_request: web.Request) -> web.FileResponse:
    return web.FileResponse(STYLESHEET)


@web.middleware
async def known_host(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Any other name that leads here is DNS rebinding. /healthz has nothing to tell."""
    issuer = request.app[PROVIDER].settings.issuer
    if request.path != "/healthz" and request.headers.get("Host") != urlsplit(issuer).netloc:
        raise web.HTTPMisdirectedRequest(text=f"This is {issuer}, and it has no other name.")
    return await handler(request)


@web.middleware
async def slow(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The fault `slow`, on what a client's own server asks for."""
    if request.path in BACK_CHANNEL:
        await asyncio.sleep(request.app[PROVIDER].faults.slow)
    return await handler(request)


@web.middleware
async def plain_problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A person who meets a refusal at /authorize reads a page; a program reads a text."""
    try:
        return await handler(request)
    except web.HTTPClientError as error:
        if request.path != "/authorize":
            raise
        return pages.problem(request.app[PROVIDER].settings, error)


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    # A browser applies form-action to the redirects that follow a form too, so the client's
    # origin, where a choice ends, stands in the list.
    origin = request.app[PROVIDER].settings.redirect_origin
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'self'; form-action 'self' {origin}; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    # Not no-referrer: that would make the browser send "Origin: null" with our own form.
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["X-Frame-Options"] = "DENY"
    response.headers["Cache-Control"] = "no-store"
