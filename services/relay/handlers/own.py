"""Sessions that the relay answers itself: with servers of the other version, or with several."""

import asyncio
from functools import partial

from aiohttp import web
from mcp_types.jsonrpc import INVALID_PARAMS
from mcp_types.methods import INPUT_REQUIRED_METHODS

from services.relay.bridge import Bridge
from services.relay.callers import inbound, running
from services.relay.callers.answered import answered
from services.relay.callers.running import Running
from services.relay.callers.sessions import McpSession, McpSessions
from services.relay.changes import changes
from services.relay.changes.alive import Alive
from services.relay.handlers.session_stream import SessionStream
from services.relay.merged.merge import Merge
from services.relay.messages import rpc
from services.relay.messages.out import Out
from services.relay.questions import askable
from services.relay.questions.interview import Caller, Interview
from services.relay.questions.rendezvous import Rendezvous
from services.relay.servers import logs
from services.relay.servers.hello import Hello, of_handshake
from services.relay.servers.progress import Progress
from services.relay.views import View


class Own:
    """Answers in one session. Raises `Rejected` or a `Problem`."""

    def __init__(
        self,
        sessions: McpSessions,
        running: Running,
        rendezvous: Rendezvous,
        stream: SessionStream,
        bridge: Bridge,
        merge: Merge,
    ) -> None:
        self._sessions = sessions
        self._running = running
        self._rendezvous = rendezvous
        self._stream = stream
        self._bridge = bridge
        self._merge = merge

    async def post(
        self,
        request: web.Request,
        view: View,
        message: rpc.Message,
        session_id: str,
        session: McpSession,
        alive: Alive,
    ) -> web.StreamResponse:
        """One message."""
        place = self._sessions.key(session_id)
        if message.get("method") == running.METHOD:
            await self._running.call_off(place, message)
        if "method" not in message:
            await self._rendezvous.arrived(place, message)
        if "method" not in message or "id" not in message:
            return web.Response(status=202)
        out = Out(request)
        interview = Interview(self._rendezvous, self._caller(view, session_id, session, place, out))

        async def own(progress: Progress | None) -> web.Response:
            async def work() -> rpc.Message:
                async with alive.hold():
                    return await self._answer(
                        view, message, session_id, session, interview, progress
                    )

            outcome = await self._running.run(place, message["id"], work())
            return rpc.answer(message["id"], outcome)

        try:
            return await answered(request, message, own, session.log_level, out)
        except asyncio.CancelledError:
            interview.hung_up()
            raise

    def _caller(
        self, view: View, session_id: str, session: McpSession, place: str, out: Out
    ) -> Caller:
        async def still() -> bool:
            found = await self._sessions.find(session_id, session.subject, session.view)
            return found is not None

        hello = askable.told(of_handshake(session.params), session.version)
        seconds = max((way.server.longest for way in view.ways), default=1)
        return Caller(place, session.version, hello, out, still, seconds)

    async def get(
        self, request: web.Request, view: View, session_id: str, session: McpSession, alive: Alive
    ) -> web.StreamResponse:
        """The session's stream."""
        hello = of_handshake(session.params).without_answers()
        place = self._sessions.key(session_id)
        return await self._stream.get(request, view, hello, place, alive)

    async def end(self, session_id: str) -> None:
        """The session has ended."""
        await self._stream.end(self._sessions.key(session_id))

    async def _answer(
        self,
        view: View,
        message: rpc.Message,
        session_id: str,
        session: McpSession,
        interview: Interview,
        progress: Progress | None,
    ) -> rpc.Message:
        method, params = message["method"], message.get("params", {})
        if method == "ping":
            return {"result": {}}
        if method == logs.SET_LEVEL:
            return await self._set_level(session_id, params)
        try:
            inbound.check_name(message)
        except inbound.Rejected as rejected:
            return rejected.outcome  # with 200: clients of these versions end at a 400
        if method in {changes.SUBSCRIBE, changes.UNSUBSCRIBE}:
            hello = of_handshake(session.params).without_answers()
            place = self._sessions.key(session_id)
            return await self._stream.subscribe(view, hello, place, method, params)
        ask = partial(self._ask, view, method, progress)
        if method in INPUT_REQUIRED_METHODS:
            return await interview.complete(ask, params)
        return await ask(of_handshake(session.params).without_answers(), params)

    async def _ask(
        self,
        view: View,
        method: str,
        progress: Progress | None,
        hello: Hello,
        params: rpc.Message,
    ) -> rpc.Message:
        if view.merged:
            return await self._merge.answer(view, hello, method, params, progress=progress)
        way = view.ways[0]
        answer = await self._bridge.answer(way, hello, method, params, progress=progress)
        return {key: answer[key] for key in ("result", "error") if key in answer}

    async def _set_level(self, session_id: str, params: rpc.Message) -> rpc.Message:
        level = logs.of_params(params)
        if level is None:
            text = f"params.level must be one of {', '.join(logs.LEVELS)}"
            return rpc.failure(INVALID_PARAMS, text)
        await self._sessions.change(session_id, log_level=level)
        return {"result": {}}
