"""An answer that may say something before it ends: one JSON value a line (NDJSON).

Without anything to say before the end it is plain JSON, as if nobody had asked for lines.
"""

import json
from collections.abc import Awaitable
from typing import Final

from aiohttp import web

from shared import metrics
from shared.contracts.problems import Problem
from shared.contracts.wire import Service
from shared.stores.kv import StoreUnavailable
from shared.web.problems import described, problem_of
from shared.web.routes import PROBLEM

LINES_TYPE: Final = "application/x-ndjson"


def takes_lines(request: web.Request) -> bool:
    """Whether the caller asks for lines."""
    return request.headers.get("Accept") == LINES_TYPE


class Lines:
    """The answer to one request. A caller who leaves is no error."""

    def __init__(self, service: Service, request: web.Request) -> None:
        self._service = service
        self._request = request
        self._response: web.StreamResponse | None = None
        self._left = False

    async def say(self, line: bytes) -> None:
        """Send something before the end: JSON without a line break."""
        try:
            if self._response is None:
                self._response = web.StreamResponse(headers={"Content-Type": LINES_TYPE})
                await self._response.prepare(self._request)
            if not self._left:
                await self._response.write(line + b"\n")
        except ConnectionError:
            self._left = True

    async def end(self, outcome: Awaitable[bytes]) -> web.StreamResponse:
        """Wait for the last line. Once lines have begun, a problem is one: `{"problem": {…}}`."""
        try:
            last = await outcome
        except (Problem, StoreUnavailable) as error:
            if self._response is None:
                raise
            problem = problem_of(error)
            metrics.PROBLEMS.add(self._service, problem.kind)
            self._request[PROBLEM] = problem
            last = json.dumps({"problem": described(self._request, problem)}).encode()
        if self._response is None:
            return web.Response(body=last, content_type="application/json")
        await self.say(last)
        return self._response
