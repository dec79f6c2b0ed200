"""POST, GET and DELETE /mcp from a caller of 2025-11-25 and before: a handshake, then a session."""

from collections.abc import Mapping
from functools import partial

from aiohttp import web
from mcp_types.jsonrpc import INVALID_REQUEST
from multidict import CIMultiDict

from services.relay.audit.trail import client_of
from services.relay.callers import inbound
from services.relay.callers.sessions import McpSession, McpSessions
from services.relay.calls import Calls
from services.relay.changes.alive import Alive
from services.relay.changes.stream_first import StreamFirst
from services.relay.gate import Way
from services.relay.handlers.handshake import Handshake
from services.relay.handlers.own import Own
from services.relay.marks import InSession
from services.relay.messages import event_ids, rpc
from services.relay.passage import Passage
from services.relay.servers.deadlines import deadline
from services.relay.servers.hello import Hello, of_handshake
from services.relay.servers.legacy import Legacy, SessionLost
from services.relay.servers.lost import SESSION_HEADER
from services.relay.servers.pool import REPEATABLE, session_renewed
from services.relay.servers.renewal import Renewal
from services.relay.servers.upstream import passed_on
from services.relay.views import View
from shared import log
from shared.contracts.problems import Problem
from shared.contracts.wire import Surface
from shared.web.routes import PRINCIPAL

_OF_THE_OTHER_VERSION = ("MCP-Method", "MCP-Name")


class Sessioned:
    """Answers in sessions. Raises `Rejected` or a `Problem`."""

    def __init__(
        self,
        handshake: Handshake,
        sessions: McpSessions,
        renewal: Renewal,
        passage: Passage,
        stream_first: StreamFirst,
        legacy: Legacy,
        own: Own,
        calls: Calls,
    ) -> None:
        self._handshake = handshake
        self._sessions = sessions
        self._renewal = renewal
        self._passage = passage
        self._stream_first = stream_first
        self._legacy = legacy
        self._own = own
        self._calls = calls

    async def post(
        self, request: web.Request, view: View, raw: bytes, message: rpc.Message, alive: Alive
    ) -> web.StreamResponse:
        """One message on one view."""
        if message.get("method") == "initialize" and "id" in message:
            async with alive.hold():
                return await self._handshake.answer(request, view, message)
        session_id, session = await self._session(request, view, message.get("id"))
        if session.through:
            return await self._through(request, view, raw, message, session_id, session, alive)
        return await self._own.post(request, view, message, session_id, session, alive)

    async def get(self, request: web.Request, view: View, alive: Alive) -> web.StreamResponse:
        """The stream of a session, where the server offers one."""
        session_id, session = await self._session(request, view, None)
        alive = self._sessions.lasting(session_id, session, alive)
        if not session.through:
            return await self._own.get(request, view, session_id, session, alive)
        way, hello = view.ways[0], of_handshake(session.params)
        ids = self._sessions.event_ids(session_id)
        after = ids.after(request.headers.getall(event_ids.HEADER, []))
        if after is None:
            text = f"{event_ids.HEADER} is no event of this session: leave it out"
            raise inbound.Rejected(INVALID_REQUEST, text)
        seen = await self._calls.seen(way, hello)
        answered = partial(self._stream_first.answered, session_id)
        listen = partial(self._passage.listen, request, way, hello, alive, ids, answered, seen)
        try:
            return await listen(_headers(request, session, after))
        except SessionLost:
            session = await self._renew(way, session_id, session)
            return await listen(_headers(request, session, after))

    async def delete(self, request: web.Request, view: View) -> web.Response:
        """End a session, here and at the server."""
        session_id, session = await self._session(request, view, None)
        await self._sessions.end(session_id, session)
        if not session.through:
            await self._own.end(session_id)
        else:
            way = view.ways[0]
            try:
                async with deadline(way.server):
                    await self._legacy.end(way, session.with_server)
            except Problem as problem:
                # ours has ended, and theirs ends by itself some time
                log.event("session-not-ended", slug=way.server.slug, reason=problem.kind)
        return web.Response(status=200)

    async def _session(
        self, request: web.Request, view: View, request_id: rpc.Id | None
    ) -> tuple[str, McpSession]:
        values = request.headers.getall(SESSION_HEADER, [])
        if len(values) != 1:
            text = f"Bad Request: send one {SESSION_HEADER}, as `initialize` returned it"
            raise inbound.Rejected(INVALID_REQUEST, text, to=request_id)
        subject = request[PRINCIPAL].subject
        session = await self._sessions.find(values[0], subject, view.name)
        if session is None:
            raise _not_found(request_id)
        client_of(session.params)
        return values[0], session

    async def _through(
        self,
        request: web.Request,
        view: View,
        raw: bytes,
        message: rpc.Message,
        session_id: str,
        session: McpSession,
        alive: Alive,
    ) -> web.StreamResponse:
        way, method, hello = view.ways[0], message.get("method"), of_handshake(session.params)
        if method == "tools/call":
            session, refusal = await self._judged(way, hello, session_id, session, message)
            if refusal is not None:
                return rpc.answer(message.get("id"), refusal)
        await self._stream_first.wait(session_id, method)
        post = partial(self._passage.post, ids=self._sessions.event_ids(session_id))
        try:
            headers = _headers(request, session)
            return await post(request, way, hello, raw, message, headers, alive)
        except SessionLost:
            session = await self._renew(way, session_id, session)
            if "id" in message and method not in REPEATABLE:
                raise session_renewed(way) from None
        try:
            headers = _headers(request, session)
            return await post(request, way, hello, raw, message, headers, alive)
        except SessionLost:
            await self._sessions.end(session_id, session)
            raise _not_found(message.get("id")) from None

    async def _judged(
        self, way: Way, hello: Hello, session_id: str, session: McpSession, message: rpc.Message
    ) -> tuple[McpSession, rpc.Message | None]:
        """Why a call is refused, if it is, and the session to make it in.

        Nothing has been sent yet: a session that is found lost by now is renewed, and no call is.
        """
        tool = message.get("params", {}).get("name")
        refusal = self._calls.refusal
        try:
            inside = InSession(self._legacy, session.with_server)
            return session, await refusal(way, hello, tool, Surface.CLIENT, inside=inside)
        except SessionLost:
            session = await self._renew(way, session_id, session)
        try:
            inside = InSession(self._legacy, session.with_server)
            return session, await refusal(way, hello, tool, Surface.CLIENT, inside=inside)
        except SessionLost:
            await self._sessions.end(session_id, session)
            raise _not_found(message.get("id")) from None

    async def _renew(self, way: Way, session_id: str, session: McpSession) -> McpSession:
        try:
            async with deadline(way.server):
                return await self._renewal.renew(way, session_id, session)
        except SessionLost:
            raise _not_found(None) from None


def _headers(
    request: web.Request, session: McpSession, more: Mapping[str, str] | None = None
) -> CIMultiDict[str]:
    """The version is the one agreed on: clients are known to send another one later."""
    headers = passed_on(request.headers)
    for name in _OF_THE_OTHER_VERSION:
        headers.popall(name, None)
    headers.popall("MCP-Protocol-Version", None)
    headers.update(session.with_server.headers)
    headers.update(more or {})
    return headers


def _not_found(request_id: rpc.Id | None) -> inbound.Rejected:
    rejected = inbound.Rejected(INVALID_REQUEST, "Session not found", to=request_id)
    rejected.status = 404
    return rejected
