"""An ASGI application on a socket, for as long as a block lasts."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import uvicorn

END_SECONDS = 1.0
_POLL_SECONDS = 0.005


@asynccontextmanager
async def serving(app: Any, sock: socket.socket) -> AsyncIterator[None]:
    """uvicorn, without its loop that looks every tenth of a second whether to end; and it ends as
    uvicorn does, but at once. Closes the socket."""
    # asyncio does this for sockets of its own; without it each answer waits for an acknowledgement
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(app, log_level="critical", ws="none")
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup([sock])
    await server.on_tick(0)  # the headers of every answer
    try:
        yield
    finally:
        await _end(server)


async def _end(server: uvicorn.Server) -> None:
    for listener in server.servers:
        listener.close()
    state = server.server_state
    for connection in list(state.connections):
        connection.shutdown()
    with suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            while state.connections or state.tasks:
                await asyncio.sleep(_POLL_SECONDS)
    for task in state.tasks:
        task.cancel()
    await server.lifespan.shutdown()
