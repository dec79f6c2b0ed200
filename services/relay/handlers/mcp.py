"""`/mcp` and `/mcp/<slug>`: what is asked, of which servers, in which version."""

import time
from collections.abc import Awaitable, Callable
from functools import partial

from aiohttp import web
from mcp_types.jsonrpc import INVALID_REQUEST

from services.relay.audit.trail import Audit
from services.relay.callers import inbound
from services.relay.callers.limits import Limits
from services.relay.changes.alive import Alive, Watch
from services.relay.entitlements.epochs import SURE_SECONDS
from services.relay.gate import Gate
from services.relay.handlers import reading
from services.relay.handlers.failed import failed, in_session
from services.relay.handlers.legacy import Sessioned
from services.relay.handlers.modern import Modern
from services.relay.messages import rpc
from services.relay.servers import trace
from services.relay.servers.lost import SESSION_HEADER
from services.relay.views import View, named_alone, view_of
from shared.contracts.access import Reason
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import Surface
from shared.stores.kv import StoreUnavailable
from shared.web.problems import problem_of
from shared.web.routes import PRINCIPAL, Guard, Identify

Ask = Callable[[], Awaitable[web.StreamResponse]]

_SEVERAL = "(several)"  # no slug is this
_ACCEPT = "Not Acceptable: Accept must list application/json and text/event-stream"


class Mcp:
    """The three methods of the Streamable HTTP transport."""

    def __init__(
        self,
        gate: Gate,
        again: Identify,
        watch: Watch,
        modern: Modern,
        sessioned: Sessioned,
        audit: Audit,
        limits: Limits,
    ) -> None:
        self._gate = gate
        self._watch = watch
        self._again = again
        self._modern = modern
        self._sessioned = sessioned
        self._in_session = in_session(sessioned.post)
        self._audit = audit
        self._limits = limits

    async def post(self, request: web.Request) -> web.StreamResponse:
        """One JSON-RPC message. What goes wrong is told with its id, once that is known."""
        since = self._watch.looks
        try:
            view = await self._view(request)
        except Problem as problem:
            if problem.kind is not ProblemKind.TOO_MANY_REQUESTS:
                raise
            return await _refused(request, problem)
        raw, view = await self._body(request, view)
        alive = self._alive(request, view, since)
        try:
            message = inbound.read(raw)
        except inbound.Rejected as rejected:
            return rpc.answer(rejected.id, rejected.outcome, rejected.status)
        if not inbound.accepts_both(request):
            outcome = rpc.failure(INVALID_REQUEST, _ACCEPT)
            return rpc.answer(message.get("id"), outcome, 406)
        modern = inbound.is_modern(request, message)
        answer = self._modern.post if modern else self._in_session
        ask: Ask = partial(answer, request, view, raw, message, alive)
        if not reading.may_be_passed_on(request[PRINCIPAL], message):
            ask = partial(reading.refuse, self._audit, request, view, message, modern=modern)
        return await self._told(request, view, message, ask)

    async def get(self, request: web.Request) -> web.StreamResponse:
        """The session's stream; not in 2026-07-28."""
        since = self._watch.looks
        view = await self._view(request)
        if inbound.is_modern(request, {}):
            return web.Response(status=405, headers={"Allow": "POST"})
        alive = self._alive(request, view, since)
        ask = partial(self._sessioned.get, request, view, alive)
        return await self._told(request, view, {"method": "GET"}, ask)

    async def delete(self, request: web.Request) -> web.StreamResponse:
        """The end of a session; not in 2026-07-28."""
        view = await self._view(request)
        if inbound.is_modern(request, {}):
            return web.Response(status=405, headers={"Allow": "POST"})
        ask = partial(self._sessioned.delete, request, view)
        return await self._told(request, view, {"method": "DELETE"}, ask)

    async def _view(self, request: web.Request) -> View:
        """What the URL shows this caller, who is counted first. Raises a `Problem`."""
        trace.begin(request.headers)
        principal, slug = request[PRINCIPAL], named_alone(request)
        await self._limits.enter(principal, slug)
        try:
            view = await view_of(self._gate, request)
        except Problem:
            self._limits.turn_away(principal, slug)
            raise
        if not view.merged:
            await self._limits.reach(view.ways[0])
        return view

    async def _body(self, request: web.Request, view: View) -> tuple[bytes, View]:
        """The message. Who takes long over it is looked up again: much may have ended meanwhile."""
        if request.content.is_eof():
            return await inbound.body(request), view
        began = time.monotonic()
        raw = await inbound.body(request)
        if time.monotonic() - began > SURE_SECONDS:
            await self._again(request)
            view = await view_of(self._gate, request)
        return raw, view

    async def _told(
        self, request: web.Request, view: View, message: rpc.Message, ask: Ask
    ) -> web.StreamResponse:
        """The answer, or what went wrong, with the id of the message."""
        try:
            if not _is_request(request, message):
                return await ask()
            where = _SEVERAL if view.merged else view.ways[0].server.slug
            return await self._audit.around(request, where, Surface.CLIENT, message, ask)
        except inbound.Rejected as rejected:
            return rpc.answer(rejected.id, rejected.outcome, rejected.status)
        except (Problem, StoreUnavailable) as error:
            return failed(request, message.get("id"), problem_of(error))

    def _alive(self, request: web.Request, view: View, since: int) -> Alive:
        """The token is looked up again, and the grant: every server of the view has to be in it,
        or the one that all is about.
        """

        async def check(about: str | None) -> None:
            try:
                now = await self._again(request)
            except Problem as problem:
                if problem.kind is not ProblemKind.SIGN_IN_NEEDED:
                    raise
                now = None
            if now is None or now.subject != request[PRINCIPAL].subject:
                # no 401: clients sign in again at that, and repeat a call that may have been made
                title, reason = "Your access has ended.", Reason.ACCESS_ENDED
                raise Problem(ProblemKind.FORBIDDEN, title, reason=reason)
            for way in view.ways:
                if about in {None, way.server.slug}:
                    await self._gate.check(way)

        return Alive(self._watch, request[PRINCIPAL], check, since)


def foreign_origins(public_url: str) -> Guard:
    """Refuse a browser on another site, token or not (basic/transports, "Security warning")."""

    async def check(request: web.Request) -> None:
        if "Origin" in request.headers and set(request.headers.getall("Origin")) != {public_url}:
            raise Problem(
                ProblemKind.CROSS_ORIGIN,
                "Pages of other sites may not use this address.",
                "Use an MCP client; it sends no Origin.",
            )

    return check


async def _refused(request: web.Request, problem: Problem) -> web.Response:
    """A refusal with the message's id, which is read for that alone."""
    try:
        request_id = inbound.read(await inbound.body(request)).get("id")
    except inbound.Rejected as rejected:
        request_id = rejected.id
    in_a_session = SESSION_HEADER in request.headers and request_id is not None
    return failed(request, request_id, problem, 200 if in_a_session else None)


def _is_request(request: web.Request, message: rpc.Message) -> bool:
    """Whether something is asked for, and not just told; a ping asks for nothing."""
    return request.method != "POST" or ("id" in message and message.get("method", "ping") != "ping")
