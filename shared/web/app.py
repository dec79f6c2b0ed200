"""What happens around every request of every service, written once, and the application."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

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
from shared.web.problems import Render, answer_of
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
            _around(service, render, _Admit(config, identify, admission, internal=internal))
        ],
    )
    add_routes(app, routes)
    headers.install(app, https=config.public_url.startswith("https:"))
    return app


def _around(
    service: Service, render: Render, admit: "_Admit"
) -> Callable[..., Awaitable[web.StreamResponse]]:
    """Every request gets an id, a log line and a timing; what goes wrong inside is answered."""

    @web.middleware
    async def around(request: web.Request, handler: Handler) -> web.StreamResponse:
        request[REQUEST_ID], request[PROBLEM] = ids.new_id(), None
        route = route_of(request)
        started, status = time.perf_counter(), 499  # 499: the caller left before the answer
        try:
            try:
                response = await admit(request, route) or await handler(request)
            except (asyncio.CancelledError, web.HTTPRedirection):
                raise
            except Exception as error:
                response = await answer_of(request, error, service, render)
            status = response.status
            return response
        except web.HTTPException as error:
            status = error.status
            raise
        finally:
            seconds = time.perf_counter() - started
            path = route.path if route is not None else "unmatched"
            metrics.request(service, path, status, seconds)
            internal = route is not None and route.access is Access.INTERNAL
            if not internal or status >= 400 or NOTED in request:
                _log_request(service, request, path, status, seconds)

    return around


def _log_request(
    service: Service, request: web.Request, path: str, status: int, seconds: float
) -> None:
    number, method, problem = request[REQUEST_ID], request.method, request[PROBLEM]
    slug, noted = request.match_info.get("slug"), request.get(NOTED)

    def fields() -> dict[str, Any]:
        made = {
            "service": service.value,
            "request": number,
            "method": method,
            "route": path,
            # anything can stand there, a token that was pasted into the address among it
            "slug": slug if slug is None or is_slug(slug) else "(no slug)",
            "status": status,
            "ms": round(seconds * 1000, 1),
            "problem": problem.kind.value if problem else None,
            "reason": (problem.reason or None) if problem else None,
        }
        return made if noted is None else {**made, **noted()}

    log.request(fields)


class _Admit:
    """Host, guard, origin, identity, in that order: written once for all services."""

    def __init__(
        self,
        config: Config,
        identify: Mapping[Access, Identify],
        admission: Admission | None,
        *,
        internal: bool,
    ) -> None:
        self._host = None if internal else config.host
        self._public_url = config.public_url
        self._identify = identify
        self._admission = admission or Admission(config)

    async def __call__(
        self, request: web.Request, route: Route | None
    ) -> web.StreamResponse | None:
        """Raises a `Problem` for who may not go on; returns what a guard answers itself."""
        if self._host is not None:
            check_host(request, self._host)
        if route is None:
            return None  # aiohttp's own 404 or 405
        if route.guard is not None and (answer := await route.guard(request)) is not None:
            return answer
        if route.access in _COOKIE_ACCESS:
            # before identity: a foreign page learns nothing from what comes after
            check_origin(request, self._public_url)
        if route.access not in _NOBODYS:
            await self._identified(request, route.access)
        return None

    async def _identified(self, request: web.Request, access: Access) -> None:
        wanted = Access.SIGNED_IN if access is Access.ADMIN else access
        principal = await self._identify[wanted](request)
        if principal is None:
            raise Problem(
                ProblemKind.SIGN_IN_NEEDED, "You are not signed in.", "Sign in and try again."
            )
        request[PRINCIPAL] = principal  # the page of a refusal names them too
        if access is Access.ADMIN and not self._admission.administers(principal.person):
            raise Problem(
                ProblemKind.FORBIDDEN,
                "This page is for administrators.",
                "Ask one of them, or have yourself added under `administrators`.",
            )
