"""Routes that declare who may use them and how they answer. Nothing is served without that."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from aiohttp import web

from shared.contracts.identity import Principal, Session
from shared.contracts.problems import Problem
from shared.log import Fields

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Guard = Callable[[web.Request], Awaitable[web.StreamResponse | None]]
Identify = Callable[[web.Request], Awaitable[Principal | None]]


class Access(StrEnum):
    """Who may use a route."""

    PUBLIC = "public"
    SIGNED_IN = "signed-in"
    ADMIN = "admin"
    INTERNAL = "internal"
    BEARER = "bearer"
    GUARDED = "guarded"  # whoever the route's own guard lets through; no person


class Answer(StrEnum):
    """In which form a route tells a problem."""

    PAGE = "page"  # HTML; a signed-out visitor is sent to sign in
    FRAME = "frame"  # HTML with the frame's own headers; never a redirect
    JSON = "json"  # application/problem+json (RFC 9457)
    RPC = "rpc"  # a JSON-RPC error


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `guard` runs before anybody is identified and may answer itself."""

    method: str
    path: str
    handler: Handler
    access: Access
    answer: Answer = Answer.PAGE
    guard: Guard | None = None


PRINCIPAL: web.RequestKey[Principal] = web.RequestKey("principal", Principal)
SESSION: web.RequestKey[Session] = web.RequestKey("session", Session)
PROBLEM: web.RequestKey[Problem | None] = web.RequestKey("problem", Problem)
REQUEST_ID: web.RequestKey[str] = web.RequestKey("request_id", str)
NOTED: web.RequestKey[Fields] = web.RequestKey("noted")
ROUTES: web.AppKey[dict[web.AbstractRoute, Route]] = web.AppKey("routes")


def route_of(request: web.Request) -> Route | None:
    """The declaration behind a request; None when no route matched."""
    return request.app[ROUTES].get(request.match_info.route)


def add_routes(app: web.Application, routes: list[Route]) -> None:
    """Register routes, and refuse to start when one was registered without a declaration."""
    table: dict[web.AbstractRoute, Route] = {}
    for route in routes:
        if route.access is Access.GUARDED and route.guard is None:
            raise RuntimeError(f"a guarded route without a guard: {route.path}")
        table[app.router.add_route(route.method, route.path, route.handler)] = route
    app[ROUTES] = table

    async def check(app: web.Application) -> None:
        undeclared = [str(r) for r in app.router.routes() if r not in app[ROUTES]]
        if undeclared:
            raise RuntimeError(f"routes without a declared access: {undeclared}")

    app.on_startup.append(check)
