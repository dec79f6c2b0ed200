"""POST, GET and DELETE /mcp from a caller of 2025-11-25 and before: a handshake, then a session."""

from aiohttp import web
from mcp_types.jsonrpc import INVALID_REQUEST

from services.relay.audit.trail import client_of
from services.relay.callers import inbound
from services.relay.callers.sessions import McpSession, McpSessions
from services.relay.changes.alive import Alive
from services.relay.handlers.handshake import Handshake
from services.relay.handlers.own import Own
from services.relay.handlers.through import Through, not_found
from services.relay.messages import rpc
from services.relay.servers.lost import SESSION_HEADER
from services.relay.views import View
from shared.web.routes import PRINCIPAL


class Sessioned:
    """Answers in sessions. Raises `Rejected` or a `Problem`."""

    def __init__(
        self, handshake: Handshake, sessions: McpSessions, through: Through, own: Own
    ) -> None:
        self._handshake = handshake
        self._sessions = sessions
        self._through = through
        self._own = own

    async def post(
        self, request: web.Request, view: View, raw: bytes, message: rpc.Message, alive: Alive
    ) -> web.StreamResponse:
        """One message on one view."""
        if message.get("method") == "initialize" and "id" in message:
            async with alive.hold():
                return await self._handshake.answer(request, view, message)
        session_id, session = await self._session(request, view, message.get("id"))
        if session.through:
            way = view.ways[0]
            return await self._through.post(request, way, raw, message, session_id, session, alive)
        return await self._own.post(request, view, message, session_id, session, alive)

    async def get(self, request: web.Request, view: View, alive: Alive) -> web.StreamResponse:
        """The stream of a session, where the server offers one."""
        session_id, session = await self._session(request, view, None)
        alive = self._sessions.lasting(session_id, session, alive)
        if session.through:
            return await self._through.get(request, view.ways[0], session_id, session, alive)
        return await self._own.get(request, view, session_id, session, alive)

    async def delete(self, request: web.Request, view: View) -> web.Response:
        """End a session, here and at the server."""
        session_id, session = await self._session(request, view, None)
        await self._sessions.end(session_id, session)
        if session.through:
            await self._through.end(view.ways[0], session)
        else:
            await self._own.end(session_id)
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
            raise not_found(request_id)
        client_of(session.params)
        return values[0], session
