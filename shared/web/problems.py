"""Problems as HTTP, written in one place: a page, problem+json (RFC 9457) or a JSON-RPC error."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from aiohttp import web
from yarl import URL

from shared import log, metrics
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import REQUEST_ID_HEADER, SIGN_IN_PATH, Service
from shared.stores.kv import StoreUnavailable
from shared.web.routes import PROBLEM, REQUEST_ID, Answer, route_of

Render = Callable[[web.Request, Problem], Awaitable[web.Response]]

_JSON_RPC_CODE = -32603
_BY_STATUS = {
    404: Problem(ProblemKind.NOT_FOUND, "There is nothing here.", "Check the address."),
    405: Problem(ProblemKind.METHOD, "This address is not used that way.", ""),
    413: Problem(ProblemKind.TOO_LARGE, "The request is too large.", "Send less at once."),
    415: Problem(ProblemKind.MEDIA_TYPE, "This kind of content is not accepted here.", ""),
}


def problem_of(error: Exception) -> Problem:
    """The problem behind any exception. Unknown ones say nothing of the inside."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, StoreUnavailable):
        return Problem(
            ProblemKind.STORE_UNAVAILABLE,
            "The store of sessions does not answer.",
            "Nobody is let in meanwhile, and nobody is signed out. Try again in a moment.",
        )
    if isinstance(error, web.HTTPException) and error.status >= 400:
        unknown = Problem(ProblemKind.BAD_REQUEST, "The request cannot be understood.", "")
        return _BY_STATUS.get(error.status, unknown)
    return Problem(
        ProblemKind.INTERNAL, "Something went wrong here.", "Try again; tell an administrator."
    )


async def answer_of(
    request: web.Request, error: Exception, service: Service, render: Render
) -> web.StreamResponse:
    """The answer to what was raised; it is counted, and logged where nobody expected it.

    Call it while handling the exception.
    """
    problem = problem_of(error)
    if problem.kind is ProblemKind.INTERNAL:
        log.failure("internal-error", service=service, request=request[REQUEST_ID])
    metrics.PROBLEMS.add(service, problem.kind)
    request[PROBLEM] = problem
    response = await render(request, problem)
    response.headers[REQUEST_ID_HEADER] = request[REQUEST_ID]
    if problem.retry_after:
        response.headers["Retry-After"] = str(problem.retry_after)
    if isinstance(error, web.HTTPMethodNotAllowed):
        response.headers["Allow"] = ", ".join(sorted(error.allowed_methods))
    return response


def described(request: web.Request, problem: Problem) -> dict[str, Any]:
    """RFC 9457 problem details."""
    return {
        "type": f"urn:strad:problem:{problem.kind}",
        "title": problem.title,
        "detail": problem.advice,
        "status": problem.status,
        "request_id": request[REQUEST_ID],
    }


def as_json(request: web.Request, problem: Problem) -> web.Response:
    """The same as an answer."""
    response = web.json_response(described(request, problem), status=problem.status)
    response.headers["Content-Type"] = "application/problem+json"
    return response


def as_rpc(request: web.Request, problem: Problem) -> web.Response:
    """A JSON-RPC error without an id: the message it answers may not have been read."""
    data = {"kind": problem.kind, "request_id": request[REQUEST_ID]}
    message = f"{problem.title} {problem.advice}".strip()
    error = {"code": _JSON_RPC_CODE, "message": message, "data": data}
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    return web.json_response(body, status=problem.status)


def renderer(page: Render | None = None, frame: Render | None = None) -> Render:
    """Choose the form of an answer by the route's declaration."""

    async def render(request: web.Request, problem: Problem) -> web.Response:
        route = route_of(request)
        answer = route.answer if route is not None else Answer.PAGE
        if answer is Answer.RPC:
            return as_rpc(request, problem)
        if answer is Answer.FRAME and frame is not None:
            return await frame(request, problem)
        if answer is Answer.PAGE and page is not None:
            if problem.kind is ProblemKind.SIGN_IN_NEEDED and request.method == "GET":
                here = quote(request.raw_path, safe="")
                # encoded=True: re-quoting would change where the visitor wanted to go
                raise web.HTTPSeeOther(URL(f"{SIGN_IN_PATH}?return_to={here}", encoded=True))
            return await page(request, problem)
        return as_json(request, problem)

    return render
