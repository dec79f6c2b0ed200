"""Speaking 2025-11-25 and before to a server: a handshake, a session, requests in it."""

import asyncio
import contextlib
import itertools
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types.jsonrpc import INTERNAL_ERROR
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers import logs
from services.relay.servers.answers import read_answer
from services.relay.servers.envelope import without_envelope
from services.relay.servers.failures import malformed
from services.relay.servers.lost import SESSION_HEADER, SessionUnknown, lost
from services.relay.servers.progress import Progress
from services.relay.servers.upstream import Upstream
from shared import ids
from shared.contracts.problems import Problem

_OF_A_SESSION = ("MCP-Protocol-Version", SESSION_HEADER)
_MAX_SESSION_ID = 512


class SessionLost(Exception):
    """The server no longer knows the session. What was asked in it has not been done."""


class HandshakeRefused(Exception):
    """The server answered `initialize` with an error; `answer` holds it."""

    def __init__(self, answer: rpc.Message) -> None:
        super().__init__(str(answer.get("error")))
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Session:
    """One session with one server. `id` None: the server keeps none. `level`: of its log lines."""

    id: str | None
    version: str
    result: dict[str, Any]
    level: str | None = None

    @property
    def capabilities(self) -> dict[str, Any]:
        """What the server says that it can do."""
        given = self.result.get("capabilities")
        return given if isinstance(given, dict) else {}

    def tells(self, level: str) -> bool:
        """Whether the server sends log lines of this level by now, if it sends any."""
        asked = self.level is not None and logs.includes(self.level, level)
        return asked or "logging" not in self.capabilities

    @property
    def headers(self) -> dict[str, str]:
        """What each request in the session carries."""
        sent = {"MCP-Protocol-Version": self.version}
        if self.id is not None:
            sent[SESSION_HEADER] = self.id
        return sent


class Legacy:
    """Handshakes and requests. All methods may raise a `Problem`."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._prefix = ids.new_id()  # ids stay unique when replicas share a session
        self._numbers = itertools.count(1)
        self._later: set[asyncio.Task[None]] = set()

    async def handshake(self, way: Way, params: rpc.Message, *, confirm: bool) -> Session:
        """Open a session. Raises `HandshakeRefused`.

        `confirm`: also send `notifications/initialized`, which otherwise the caller sends.
        """
        server, number = way.server, self._next_id()
        body = rpc.dumps(rpc.request(number, "initialize", params))
        async with self._upstream.open(way, "POST", {}, body) as response:
            session_id = response.headers.get(SESSION_HEADER)
            answer = await read_answer(server, response, number)
        if "error" in answer:
            raise HandshakeRefused(answer)
        version = answer["result"].get("protocolVersion")
        if version not in HANDSHAKE_PROTOCOL_VERSIONS:
            raise malformed(server, "it chose a protocol version that does not exist")
        if session_id is not None and not (0 < len(session_id) <= _MAX_SESSION_ID):
            raise malformed(server, "its session id has no usable length")
        session = Session(session_id, version, answer["result"])
        if confirm:
            await self.tell(way, session, {"method": "notifications/initialized"})
        return session

    async def ask(
        self,
        way: Way,
        session: Session,
        method: str,
        params: rpc.Message,
        progress: Progress | None = None,
    ) -> rpc.Message:
        """One request in a session; the answer holds `result` or `error`. Raises `SessionLost`."""
        number = self._next_id()
        body = rpc.dumps(rpc.request(number, method, without_envelope(params, progress)))

        async def on_message(message: rpc.Message) -> None:
            if "id" in message:
                await self.refuse(way, session, message)
            elif progress is not None:
                await progress.heard(message)

        try:
            async with self._upstream.open(way, "POST", session.headers, body) as response:
                if session.id is not None and response.status == 404:
                    raise SessionLost
                answer = await read_answer(way.server, response, number, on_message)
                if session.id is not None and lost(response.status, answer, number):
                    raise SessionLost
                return answer
        except SessionUnknown as unknown:
            raise SessionLost from unknown
        except asyncio.CancelledError:
            self.call_off(way, session.headers, number, "the caller left")
            raise

    async def tell(self, way: Way, session: Session, message: rpc.Message) -> None:
        """Send something that has no answer."""
        await self._send(way, session.headers, message)

    def call_off(self, way: Way, headers: Mapping[str, str], number: rpc.Id, why: str) -> None:
        """Nobody wants this answer any more. `headers`: of the request, which named its session.

        In these versions a closed connection cancels nothing; a message does.
        """
        kept = {name: headers[name] for name in _OF_A_SESSION if name in headers}
        params = {"requestId": number, "reason": why}
        message = {"method": "notifications/cancelled", "params": params}
        self.later(self._send(way, kept, message))

    async def _send(self, way: Way, headers: Mapping[str, str], message: rpc.Message) -> None:
        body = rpc.dumps({"jsonrpc": "2.0", **message})
        async with self._upstream.open(way, "POST", headers, body, in_turn=False):
            pass

    async def refuse(self, way: Way, session: Session, message: rpc.Message) -> None:
        """Answer a server that asks something that nobody here can be asked."""
        await self.tell(way, session, _no_answer(message))

    async def end(self, way: Way, session: Session) -> None:
        """End a session; a server that does not allow it may refuse."""
        if session.id is not None:
            async with self._upstream.open(way, "DELETE", session.headers, in_turn=False):
                pass

    async def close(self) -> None:
        """Wait for what is still to be sent."""
        if self._later:
            await asyncio.wait(self._later, timeout=1)

    def _next_id(self) -> str:
        return f"{self._prefix}-{next(self._numbers)}"

    def later(self, work: Coroutine[Any, Any, object]) -> None:
        """Do something that nobody waits for, and that a server may also do without."""

        async def run() -> None:
            with contextlib.suppress(Problem, SessionLost, TimeoutError):
                async with asyncio.timeout(2):
                    await work

        task = asyncio.create_task(run())
        self._later.add(task)
        task.add_done_callback(self._later.discard)


def _no_answer(message: rpc.Message) -> rpc.Message:
    if message["method"] == "ping":
        return {"id": message["id"], "result": {}}
    # the server may pass this on as the outcome of the call: not the code of a missing method
    text = "The caller cannot be asked in this protocol version."
    return {"id": message["id"], **rpc.failure(INTERNAL_ERROR, text)}
