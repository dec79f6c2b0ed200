"""What went wrong with a request, as its caller hears it: a JSON-RPC error with its id."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from services.relay.changes.alive import Alive
from services.relay.messages import rpc
from services.relay.views import View
from shared import metrics
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import Service
from shared.web.routes import PROBLEM, REQUEST_ID

Post = Callable[[web.Request, View, bytes, rpc.Message, Alive], Awaitable[web.StreamResponse]]

_OF_ONE_SERVER = frozenset(
    {
        ProblemKind.TOO_MANY_REQUESTS,
        ProblemKind.UPSTREAM_MALFORMED,
        ProblemKind.UPSTREAM_REFUSED,
        ProblemKind.UPSTREAM_TIMEOUT,
        ProblemKind.UPSTREAM_TOO_LARGE,
        ProblemKind.UPSTREAM_UNREACHABLE,
    }
)


def failed(
    request: web.Request, request_id: rpc.Id | None, problem: Problem, status: int | None = None
) -> web.Response:
    """The answer; with the problem's own status unless another one is named."""
    request[PROBLEM] = problem
    metrics.PROBLEMS.add(Service.RELAY, problem.kind)
    outcome = rpc.problem(problem, request[REQUEST_ID])
    response = rpc.answer(request_id, outcome, status or problem.status)
    if problem.retry_after:
        response.headers["Retry-After"] = str(problem.retry_after)
    return response


def in_session(post: Post) -> Post:
    """`post`, where a server's trouble is the outcome of one request: HTTP 200.

    Clients of 2025-11-25 and before give the whole session up at a status of 5xx or 429, and with
    it all other servers of the view.
    """

    async def told(
        request: web.Request, view: View, raw: bytes, message: rpc.Message, alive: Alive
    ) -> web.StreamResponse:
        try:
            return await post(request, view, raw, message, alive)
        except Problem as problem:
            if problem.kind not in _OF_ONE_SERVER or "method" not in message:
                raise
            answer = failed(request, message.get("id"), problem, 200)
            # nobody waits to hear what became of a notification
            return answer if "id" in message else web.Response(status=202)

    return told
