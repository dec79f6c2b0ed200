"""Between a caller and a server of one version: what either says reaches the other as it was.

The request's bytes are forwarded, the answer's bytes come back, streams flow event by event. The
little that is changed on the way is in `amend.py`.
"""

import asyncio
import contextlib
from collections.abc import Mapping

import aiohttp
from aiohttp import web

from services.relay import rpc
from services.relay.alive import Alive
from services.relay.amend import Amend
from services.relay.answers import let_end
from services.relay.audit import heard
from services.relay.events import events_of
from services.relay.gate import Way
from services.relay.hello import Hello
from services.relay.legacy import SESSION_HEADER, SessionLost, lost
from services.relay.modern import NotModern, not_modern
from services.relay.out import Out
from services.relay.progress import METHOD as PROGRESS
from services.relay.states import States
from services.relay.streams import data_of, is_resumable, with_data
from services.relay.upstream import (
    Patience,
    Upstream,
    broke_off,
    deadline,
    malformed,
    read_message,
    refused,
    whole,
)
from shared import log
from shared.contracts.config import Server
from shared.contracts.problems import Problem


class Passage:
    """Carries requests through. Methods raise a `Problem` until an answer has begun."""

    def __init__(self, upstream: Upstream, states: States) -> None:
        self._upstream = upstream
        self._states = states
        self._endless: set[asyncio.Task[object]] = set()

    async def post(
        self,
        request: web.Request,
        way: Way,
        hello: Hello,
        raw: bytes,
        message: rpc.Message,
        headers: Mapping[str, str],
        alive: Alive,
    ) -> web.StreamResponse:
        """Forward one message and its answer.

        Raises `SessionLost` or `NotModern` when the server did not take the message at all, and
        `StateRefused` when it was not sent.
        """
        server, request_id = way.server, message.get("id") if "method" in message else None
        amend = Amend(way, hello, message, self._states if "MCP-Method" in headers else None)
        out, raw = Out(request), amend.request(raw)
        try:
            async with (
                deadline(server) as limit,
                self._upstream.open(way, "POST", headers, raw) as response,
            ):
                if response.status == 404 and SESSION_HEADER in headers:
                    raise SessionLost
                patience: Patience | None = Patience(limit, server)
                if request_id is None:
                    return web.Response(status=202 if response.status < 400 else 400)
                if response.content_type != "text/event-stream" or response.status != 200:
                    return await _single(server, response, request_id, headers, amend)
                if message["method"] == "subscriptions/listen":
                    self._runs_on(limit)
                    patience = None
                return await self._stream(amend, response, out, alive, request_id, patience)
        except Problem as problem:
            if not out.begun:
                raise
            if not out.resumable:  # else the caller takes it up again where it broke off
                await out.fail(request_id, problem)
            return await out.end()

    async def listen(
        self,
        request: web.Request,
        way: Way,
        hello: Hello,
        headers: Mapping[str, str],
        alive: Alive,
    ) -> web.StreamResponse:
        """The stream that a server keeps open for a session (GET)."""
        out = Out(request)
        try:
            async with (
                deadline(way.server) as limit,
                self._upstream.open(way, "GET", headers) as response,
            ):
                if response.status == 404:
                    raise SessionLost
                if response.content_type != "text/event-stream" or response.status != 200:
                    return web.Response(status=405, headers={"Allow": "POST, DELETE"})
                self._runs_on(limit)
                await out.begin()
                return await self._stream(Amend(way, hello, {}), response, out, alive, None, None)
        except Problem as problem:
            if not out.begun:
                raise
            log.event("stream-broke-off", slug=way.server.slug, reason=problem.kind)
            return await out.end()

    async def close(self, _: web.Application) -> None:
        """End the streams that have no end of their own: nobody who stops waits for them."""
        for task in self._endless:
            task.cancel()

    def _runs_on(self, limit: asyncio.Timeout) -> None:
        limit.reschedule(None)
        task = asyncio.current_task()
        assert task is not None
        self._endless.add(task)
        task.add_done_callback(self._endless.discard)

    async def _stream(
        self,
        amend: Amend,
        response: aiohttp.ClientResponse,
        out: Out,
        alive: Alive,
        request_id: rpc.Id | None,
        patience: Patience | None,
    ) -> web.StreamResponse:
        server, answered = amend.server, False
        async with alive.hold(), contextlib.aclosing(events_of(server, response)) as together:
            async for events in together:
                joined, passed = b"".join(events), bytearray()
                looked_at = request_id is not None or amend.concerns(joined)
                try:
                    passed += b"" if looked_at else joined
                    for event in events if looked_at else ():
                        data = data_of(event)
                        if data and (request_id is not None or amend.concerns(event)):
                            message = read_message(server, data)
                            if patience is not None and message.get("method") == PROGRESS:
                                patience.renew()
                            amended = amend.answer(message, data)
                            if amended is not data:
                                data, event = amended, with_data(event, amended)
                            if not answered and _answers(message, request_id):
                                answered = True
                                heard(message)
                        out.resumable = out.resumable or is_resumable(event)
                        if answered and not (out.begun or passed or out.resumable):
                            # nothing came before it: as plain JSON no reader limits its length
                            await let_end(response)
                            return _json(data, 200)
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


async def _single(
    server: Server,
    response: aiohttp.ClientResponse,
    request_id: rpc.Id,
    headers: Mapping[str, str],
    amend: Amend,
) -> web.Response:
    """An answer that is not a stream."""
    if response.content_type != "application/json":
        if response.status >= 400:
            raise refused(server, f"it answered HTTP {response.status}")
        raise malformed(server, f"its answer is {response.content_type}, not JSON")
    raw = await whole(server, response)
    message = read_message(server, raw)
    if SESSION_HEADER in headers and lost(response.status, message, request_id):
        raise SessionLost
    if "MCP-Method" in headers and not_modern(response.status, message, request_id):
        raise NotModern(message)
    refusal = response.status >= 400 and isinstance(message.get("error"), dict)
    if not refusal and not _answers(message, request_id):
        raise malformed(server, "its answer does not answer the request")
    heard(message)
    return _json(amend.answer(message, raw), response.status)


def _answers(message: rpc.Message, request_id: rpc.Id | None) -> bool:
    return (
        "method" not in message
        and message.get("id") == request_id
        and ("result" in message or "error" in message)
    )


def _json(raw: bytes, status: int) -> web.Response:
    return web.Response(body=raw, status=status, content_type="application/json")
