"""`initialize`: with the server itself where it speaks the caller's version, else by the relay."""

from aiohttp import web
from mcp_types.jsonrpc import INVALID_PARAMS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from services.relay.bridge import Bridge
from services.relay.callers import inbound
from services.relay.callers.sessions import McpSession, McpSessions, check_size
from services.relay.changes.stream_first import StreamFirst
from services.relay.gate import Way
from services.relay.merged.merge import Merge
from services.relay.messages import rpc
from services.relay.servers.ask import DISCOVER
from services.relay.servers.deadlines import deadline
from services.relay.servers.eras import Era, Eras
from services.relay.servers.hello import of_handshake
from services.relay.servers.legacy import HandshakeRefused, Legacy, Session
from services.relay.servers.lost import SESSION_HEADER
from services.relay.views import View
from shared.contracts.problems import Problem, ProblemKind
from shared.web.routes import PRINCIPAL

_NO_HANDSHAKE = frozenset({ProblemKind.UPSTREAM_REFUSED, ProblemKind.UPSTREAM_MALFORMED})


class Handshake:
    """Answers `initialize` and opens a session of the relay's. Raises `Rejected` or a `Problem`."""

    def __init__(
        self,
        eras: Eras,
        legacy: Legacy,
        bridge: Bridge,
        merge: Merge,
        sessions: McpSessions,
        stream_first: StreamFirst,
    ) -> None:
        self._eras = eras
        self._legacy = legacy
        self._bridge = bridge
        self._merge = merge
        self._sessions = sessions
        self._stream_first = stream_first

    async def answer(self, request: web.Request, view: View, message: rpc.Message) -> web.Response:
        """The response, with the id of the new session in its header."""
        request_id, params = message["id"], message.get("params", {})
        if not isinstance(params.get("protocolVersion"), str):
            text = "params.protocolVersion is missing"
            raise inbound.Rejected(INVALID_PARAMS, text, to=request_id)
        check_size(params)
        if not view.merged:
            side = await self._with_server(view.ways[0], params)
            if isinstance(side, Session):
                return await self._opened(request, view, message, side, through=True)
            if side is not None:
                return rpc.answer(request_id, {"error": side["error"]})
        introduction = await self._introduction(view, params)
        if "error" in introduction:
            return rpc.answer(request_id, {"error": introduction["error"]})
        asked = params["protocolVersion"]
        version = asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
        result = {"protocolVersion": version, **introduction["result"]}
        own = Session(None, version, result)
        return await self._opened(request, view, message, own, through=False)

    async def _with_server(self, way: Way, params: rpc.Message) -> Session | rpc.Message | None:
        """The server's own session, or its refusal; None when it knows no handshake at all."""
        refusal: rpc.Message | Problem
        async with deadline(way.server):
            try:
                return await self._legacy.handshake(way, params, confirm=False)
            except HandshakeRefused as refused:
                refusal = refused.answer
            except Problem as problem:
                if problem.kind not in _NO_HANDSHAKE:
                    raise
                refusal = problem
            if await self._eras.of(way) is Era.MODERN:
                return None
        if isinstance(refusal, Problem):
            raise refusal
        return refusal

    async def _introduction(self, view: View, params: rpc.Message) -> rpc.Message:
        hello = of_handshake(params).without_answers()
        if view.merged:
            return await self._merge.answer(view, hello, DISCOVER, {})
        return await self._bridge.answer(view.ways[0], hello, DISCOVER, {})

    async def _opened(
        self,
        request: web.Request,
        view: View,
        message: rpc.Message,
        side: Session,
        *,
        through: bool,
    ) -> web.Response:
        session = McpSession(
            subject=request[PRINCIPAL].subject,
            view=view.name,
            params=message.get("params", {}),
            version=side.version,
            through=through,
            upstream=side.id,
        )
        response = rpc.answer(message["id"], {"result": side.result})
        session_id = await self._sessions.begin(session)
        if side.id is not None:  # else the server cannot tell whose stream it would ask in
            await self._stream_first.expect(session_id, view.ways[0].server.slug)
        response.headers[SESSION_HEADER] = session_id
        return response
