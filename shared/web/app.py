"""The middleware order, written once for all services, and the application around it."""

import time
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from shared import ids, log, metrics
from shared.contracts.config import Config
from shared.contracts.fields import is_slug
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import Service
from shared.entitled import Admission
from shared.web import headers
from shared.web.host import check_host
from shared.web.origin import check_origin
from shared.web.problems import Render, middleware
from shared.web.routes import (
    NOTED,
    PRINCIPAL,
    PROBLEM,
    REQUEST_ID,
    Access,
    Handler,
    Identify,
    Route,
    add_routes,
    route_of,
)

_NOBODYS = frozenset({Access.PUBLIC, Access.GUARDED})
_COOKIE_ACCESS = frozenset({Access.PUBLIC, Access.SIGNED_IN, Access.ADMIN})


def build(
    service: Service,
    routes: list[Route],
    *,
    config: Config,
    render: Render,
    identify: Mapping[Access, Identify],
    admission: Admission | None = None,
    internal: bool = False,
    max_body: int = 1024 * 1024,
) -> web.Application:
    """The application of one port of one service. `max_body` in bytes.

    `admission`: who administers; left out, whom `config` names.
    `internal`: the second port, reached by service names, so its Host is not checked.
    """
    app = web.Application(
        client_max_size=max_body,
        middlewares=[
            _observe(service),  # outermost: every request gets an id, a log line and a timing
            middleware(service, render),  # everything below may raise a Problem
            # below: host, guard, identity, origin, in that order
            _admit(config, identify, admission or Admission(config), internal),
        ],
    )
    add_routes(app, routes)
    headers.install(app, https=config.public_url.startswith("https:"))
    return app


def _observe(service: Service) -> Callable[..., Awaitable[web.StreamResponse]]:
    @web.middleware
    async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
        request[REQUEST_ID] = ids.new_id()
        started, status = time.perf_counter(), 499  # 499: the caller left before the answer
        try:
            response = await handler(request)
            status = response.status
        except web.HTTPException as error:
            status = error.status
            raise
        else:
            return response
        finally:
            seconds = time.perf_counter() - started
            route = route_of(request)
            path = route.path if route is not None else "unmatched"
            metrics.request(service, path, status, seconds)
            internal = route is not None and route.access is Access.INTERNAL
            if not internal or status >= 400 or NOTED in request:
                _log_request(service, request, path, status, seconds)

    return observe


def _log_request(
    service: Service, request: web.Request, path: str, status: int, seconds: float
) -> None:
    problem = request.get(PROBLEM)
    slug = request.match_info.get("slug")
    noted = request.get(NOTED, {})
    log.request(
        service=service,
        request=request[REQUEST_ID],
        method=request.method,
        route=path,
        # anything can stand there, a token that was pasted into the address among it
        slug=slug if slug is None or is_slug(slug) else "(no slug)",
        status=status,
        ms=round(seconds * 1000, 1),
        problem=problem.kind if problem else None,
        **({"reason": (problem.reason or None) if problem else None} | noted),
    )


def _admit(
    config: Config, identify: Mapping[Access, Identify], admission: Admission, internal: bool
) -> Callable[..., Awaitable[web.StreamResponse]]:
    @web.middleware
    async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not internal:
            check_host(request, config.host)
        route = route_of(request)
        if route is None:
            return await handler(request)  # aiohttp's own 404 or 405
        if route.guard is not None:
            answer = await route.guard(request)
            if answer is not None:
                return answer
        if route.access in _COOKIE_ACCESS:
            # before identity: a foreign page learns nothing from what comes after
            check_origin(request, config.public_url)
        if route.access not in _NOBODYS:
            await _identify(request, route, identify, admission)
        return await handler(request)

    return admit


async def _identify(
    request: web.Request,
    route: Route,
    identify: Mapping[Access, Identify],
    admission: Admission,
) -> None:
    wanted = Access.SIGNED_IN if route.access is Access.ADMIN else route.access
    principal = await identify[wanted](request)
    if principal is None:
        raise Problem(
            ProblemKind.SIGN_IN_NEEDED, "You are not signed in.", "Sign in and try again."
        )
    if route.access is Access.ADMIN and not admission.administers(principal.person):
        raise Problem(
            ProblemKind.FORBIDDEN,
            "This page is for administrators.",
            "Ask one of them, or have yourself added under `administrators`.",
        )
    request[PRINCIPAL] = principal
