"""The stream of events to a caller."""

import contextlib

from aiohttp import web

from services.relay.messages import rpc
from services.relay.messages.event_ids import EventIds
from services.relay.messages.streams import event_of
from shared.contracts.problems import Problem
from shared.web.routes import PROBLEM, REQUEST_ID

_STREAM_HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}


class Out:
    """The stream to the caller. A caller who leaves is no error.

    `ids`: where ids of events pass that a server gave.
    """

    def __init__(self, request: web.Request, ids: EventIds | None = None) -> None:
        self._request = request
        self._ids = ids
        self._stream: web.StreamResponse | None = None  # most answers need none
        self.begun = False
        self.left = False
        self.resumable = False  # an event with an id was seen

    @property
    def _response(self) -> web.StreamResponse:
        if self._stream is None:
            self._stream = web.StreamResponse(headers=_STREAM_HEADERS)
        return self._stream

    async def begin(self) -> None:
        """Commit to a stream."""
        self.begun = True
        try:
            await self._response.prepare(self._request)
        except ConnectionError:
            self.left = True

    async def write(self, event: bytes) -> None:
        """Send one event, or several."""
        if not self.begun:
            await self.begin()
        if self._ids is not None:
            event = self._ids.marked(event)
        try:
            if not self.left:
                await self._response.write(event)
        except ConnectionError:
            self.left = True

    async def fail(self, request_id: rpc.Id | None, problem: Problem) -> None:
        """Tell the caller in the stream what the response's status can no longer say."""
        self._request[PROBLEM] = problem
        error = rpc.problem(problem, self._request[REQUEST_ID])
        await self.write(event_of(rpc.dumps({"jsonrpc": "2.0", "id": request_id, **error})))

    async def end(self) -> web.StreamResponse:
        """Close the stream in order."""
        if not self.begun:
            await self.begin()
        if not self.left:
            with contextlib.suppress(ConnectionError):
                await self._response.write_eof()
        return self._response
