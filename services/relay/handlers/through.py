"""Sessions that go through to a server of the caller's own version."""

import asyncio
from collections.abc import Mapping
from functools import partial

from aiohttp import web
from mcp_types.jsonrpc import INVALID_REQUEST
from multidict import CIMultiDict

from services.relay.callers import inbound, running
from services.relay.callers.running import CalledOff, Running
from services.relay.callers.sessions import McpSession, McpSessions
from services.relay.calls import Calls
from services.relay.changes.alive import Alive
from services.relay.changes.stream_first import StreamFirst
from services.relay.gate import Way
from services.relay.marks import InSession
from services.relay.messages import event_ids, rpc
from services.relay.messages.out import Out
from services.relay.passage import Passage
from services.relay.servers.deadlines import deadline
from services.relay.servers.hello import Hello, of_handshake
from services.relay.servers.legacy import Legacy, SessionLost
from services.relay.servers.pool import REPEATABLE, session_renewed
from services.relay.servers.renewal import Renewal
from services.relay.servers.upstream import Sending, passed_on
from shared import log
from shared.contracts.problems import Problem
from shared.contracts.wire import Surface

HEAD_START_SECONDS = 0.05
_OF_THE_OTHER_VERSION = ("MCP-Method", "MCP-Name")


class Through:
    """Answers in one session. Raises `Rejected` or a `Problem`."""

    def __init__(
        self,
        sessions: McpSessions,
        renewal: Renewal,
        passage: Passage,
        stream_first: StreamFirst,
        running: Running,
        legacy: Legacy,
        calls: Calls,
    ) -> None:
        self._sessions = sessions
        self._renewal = renewal
        self._passage = passage
        self._stream_first = stream_first
        self._running = running
        self._legacy = legacy
        self._calls = calls

    async def post(
        self,
        request: web.Request,
        way: Way,
        raw: bytes,
        message: rpc.Message,
        session_id: str,
        session: McpSession,
        alive: Alive,
    ) -> web.StreamResponse:
        """One message."""
        pass_on = partial(self._pass_on, request, way, raw, message, session_id, session, alive)
        place = self._sessions.key(session_id)
        if message.get("method") == running.METHOD:
            await self._running.call_off(place, message)
            # its request may be on its way to the server too, from another replica
            await asyncio.sleep(HEAD_START_SECONDS)
        if "method" not in message or "id" not in message:
            return await pass_on(None)
        try:
            with self._running.passing(place, message["id"]) as sending:
                return await pass_on(sending)
        except CalledOff:
            return await Out(request).end()

    async def get(
        self, request: web.Request, way: Way, session_id: str, session: McpSession, alive: Alive
    ) -> web.StreamResponse:
        """The session's stream, where the server offers one."""
        await self._stream_first.coming(session_id)
        hello = of_handshake(session.params)
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

    async def end(self, way: Way, session: McpSession) -> None:
        """The session has ended: at the server too."""
        try:
            async with deadline(way.server):
                await self._legacy.end(way, session.with_server)
        except Problem as problem:
            # ours has ended, and theirs ends by itself some time
            log.event("session-not-ended", slug=way.server.slug, reason=problem.kind)

    async def _pass_on(
        self,
        request: web.Request,
        way: Way,
        raw: bytes,
        message: rpc.Message,
        session_id: str,
        session: McpSession,
        alive: Alive,
        sending: Sending | None,
    ) -> web.StreamResponse:
        method, hello = message.get("method"), of_handshake(session.params)
        if method == "tools/call":
            session, refusal = await self._judged(way, hello, session_id, session, message)
            if refusal is not None:
                return rpc.answer(message.get("id"), refusal)
        await self._stream_first.wait(session_id, method)
        ids = self._sessions.event_ids(session_id)
        post = partial(self._passage.post, ids=ids, sending=sending)
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
            raise not_found(message.get("id")) from None

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
            raise not_found(message.get("id")) from None

    async def _renew(self, way: Way, session_id: str, session: McpSession) -> McpSession:
        try:
            async with deadline(way.server):
                return await self._renewal.renew(way, session_id, session)
        except SessionLost:
            raise not_found(None) from None


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


def not_found(request_id: rpc.Id | None) -> inbound.Rejected:
    """The session is not, or not any more."""
    rejected = inbound.Rejected(INVALID_REQUEST, "Session not found", to=request_id)
    rejected.status = 404
    return rejected
