"""Between a caller and a server of one version: what either says reaches the other as it was.

The request's bytes are forwarded, the answer's bytes come back, streams flow event by event. The
little that is changed on the way is in `amend.py`.
"""

import contextlib
from collections.abc import Awaitable, Callable, Mapping

import aiohttp
from aiohttp import web

from services.relay.audit.trail import heard
from services.relay.changes.alive import Alive
from services.relay.changes.changes import LISTEN
from services.relay.changes.held import Ended
from services.relay.changes.seen import Seen
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.messages.endless import Endless
from services.relay.messages.event_ids import EventIds
from services.relay.messages.events import events_of
from services.relay.messages.out import Out
from services.relay.messages.streams import data_of, is_resumable, with_data
from services.relay.questions.amend import Amend
from services.relay.questions.states import States
from services.relay.servers.answers import let_end
from services.relay.servers.bodies import read_message
from services.relay.servers.deadlines import Patience, deadline
from services.relay.servers.failures import broke_off
from services.relay.servers.hello import Hello
from services.relay.servers.legacy import Legacy, SessionLost
from services.relay.servers.lost import SESSION_HEADER, SessionUnknown
from services.relay.servers.offered import Offered
from services.relay.servers.progress import METHOD as PROGRESS
from services.relay.servers.single import answers, single
from services.relay.servers.upstream import Sending, Upstream
from shared import log
from shared.contracts.problems import Problem

_NO_STREAM = {"Allow": "POST, DELETE"}

_COMMENT = b": still here\n\n"


class Passage:
    """Carries requests through. Methods raise a `Problem` until an answer has begun."""

    def __init__(
        self, upstream: Upstream, legacy: Legacy, states: States, offered: Offered, endless: Endless
    ) -> None:
        self._upstream = upstream
        self._legacy = legacy
        self._offered = offered
        self._states = states
        self._endless = endless

    async def post(
        self,
        request: web.Request,
        way: Way,
        hello: Hello,
        raw: bytes,
        message: rpc.Message,
        headers: Mapping[str, str],
        alive: Alive,
        seen: Seen | None = None,
        ids: EventIds | None = None,
        sending: Sending | None = None,
    ) -> web.StreamResponse:
        """Forward one message and its answer. `ids`: of events, in a session.

        Raises `SessionLost` or `NotModern` when the server did not take the message at all, and
        `StateRefused` when it was not sent.
        """
        server, request_id = way.server, message.get("id") if "method" in message else None
        amend = Amend(way, hello, message, self._states if "MCP-Method" in headers else None, seen)
        out, raw = Out(request, ids), amend.request(raw)
        takes_turn = request_id is not None and message["method"] != LISTEN
        try:
            async with (
                alive.hold(),
                deadline(server) as limit,
                self._upstream.open(
                    way, "POST", headers, raw, in_turn=takes_turn, sending=sending
                ) as response,
            ):
                if response.status == 404 and SESSION_HEADER in headers:
                    raise SessionLost
                if request_id is None:
                    return web.Response(status=202 if response.status < 400 else 400)
                kind = response.content_type
                if kind != "text/event-stream" or response.status != 200:
                    return await single(server, response, kind, request_id, headers, amend)
                patience: Patience | None = Patience(limit, server)
                if message["method"] == LISTEN:
                    limit.reschedule(None)
                    self._endless.add()
                    patience = None
                return await self._stream(amend, response, out, request_id, patience)
        except SessionUnknown as unknown:
            raise SessionLost from unknown
        except Problem as problem:
            ended = isinstance(problem, Ended)
            if ended and request_id is not None and "MCP-Method" not in headers:
                self._legacy.call_off(way, headers, request_id, "the caller's access has ended")
            if not out.begun:
                raise
            if ended or not out.resumable:  # else the caller takes it up again where it broke off
                await out.fail(request_id, problem)
            return await out.end()

    async def listen(
        self,
        request: web.Request,
        way: Way,
        hello: Hello,
        alive: Alive,
        ids: EventIds,
        answered: Callable[[], Awaitable[None]],
        seen: Seen | None,
        headers: Mapping[str, str],
    ) -> web.StreamResponse:
        """The stream that a server keeps open for a session (GET).

        409 where the session has one, 405 where the server offers none: that is remembered.
        `answered` is done as soon as it is known which.
        """
        if self._offered.nothing(way.server.slug):
            await answered()
            return web.Response(status=405, headers=_NO_STREAM)
        out = Out(request, ids)
        try:
            async with (
                alive.hold(),
                deadline(way.server) as limit,
                self._upstream.open(way, "GET", headers, in_turn=False) as response,
            ):
                if response.status == 404:
                    raise SessionLost
                await answered()
                if response.status == 409:
                    return web.Response(status=409)
                if response.content_type != "text/event-stream" or response.status != 200:
                    self._offered.note(way.server.slug, response.status)
                    return web.Response(status=405, headers=_NO_STREAM)
                limit.reschedule(None)
                self._endless.add()
                await out.begin()
                amend = Amend(way, hello, {}, seen=seen)
                return await self._stream(amend, response, out, None, None)
        except SessionUnknown as unknown:
            raise SessionLost from unknown
        except Problem as problem:
            if not out.begun:
                raise
            log.event("stream-broke-off", slug=way.server.slug, reason=problem.kind)
            return await out.end()

    async def _stream(
        self,
        amend: Amend,
        response: aiohttp.ClientResponse,
        out: Out,
        request_id: rpc.Id | None,
        patience: Patience | None,
    ) -> web.StreamResponse:
        server, answered = amend.server, False
        async with contextlib.aclosing(events_of(server, response)) as together:
            async for events in together:
                if not events and out.begun:
                    # whatever lies between here and the caller takes silence for an end
                    await out.write(_COMMENT)
                joined = b"".join(events)
                looked_at = request_id is not None or amend.concerns(joined)
                passed = bytearray() if looked_at else bytearray(joined)
                try:
                    for event in events if looked_at else ():
                        data = data_of(event)
                        if data and (request_id is not None or amend.concerns(event)):
                            message = read_message(server, data)
                            if patience is not None and message.get("method") == PROGRESS:
                                patience.renew()
                            if not await amend.passes(message):
                                continue
                            amended = amend.answer(message, data)
                            if amended is not data:
                                data, event = amended, with_data(event, amended)
                            if not answered and answers(message, request_id):
                                answered = True
                                heard(message)
                        out.resumable = out.resumable or is_resumable(event)
                        if answered and not (out.begun or passed or out.resumable):
                            # nothing came before it: as plain JSON no reader limits its length
                            await let_end(response)
                            return rpc.response(data)
                        passed += event
                finally:
                    # one write for all: for each small event it would hold up everybody else
                    if passed:
                        await out.write(bytes(passed))
                if out.left:
                    return await out.end()
        if request_id is not None and not answered and not out.resumable:
            raise broke_off(server)
        return await out.end()
