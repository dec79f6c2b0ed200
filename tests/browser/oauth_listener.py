"""Where a client on a person's machine waits for the answer to what it asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.auth.conftest import free_socket, serving


@dataclass
class Listener:
    """`answers`: the queries that have arrived."""

    url: str
    answers: "asyncio.Queue[dict[str, str]]" = field(default_factory=asyncio.Queue)

    async def arrive(self, request: web.Request) -> web.Response:
        await self.answers.put(dict(request.query))
        return web.Response(text="You can close this page.")


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    """Listen on a free port."""
    sock, port = free_socket()
    listener = Listener(f"http://127.0.0.1:{port}/callback")
    app = web.Application()
    app.router.add_get("/callback", listener.arrive)
    async with serving(app, sock):
        yield listener
