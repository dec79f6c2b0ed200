"""WebDriver BiDi over one WebSocket: commands, their answers, and events."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

PATIENCE = 20.0  # seconds for one command
Event = Callable[[dict[str, Any]], None]


class Refused(Exception):
    """The browser did not do as it was told. `kind`: the error code of the specification."""

    def __init__(self, method: str, kind: str, message: str) -> None:
        super().__init__(f"{method}: {kind}: {message}")
        self.kind = kind


class Bidi:
    """One session with one browser."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listeners: dict[str, list[Event]] = {}

    async def send(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its result. Raises Refused, or TimeoutError after PATIENCE."""
        number = next(self._ids)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self._socket.send_json({"id": number, "method": method, "params": params})
            told = await asyncio.wait_for(answer, PATIENCE)
        finally:
            del self._waiting[number]
        if told["type"] == "error":
            raise Refused(method, told["error"], told["message"])
        result: dict[str, Any] = told["result"]
        return result

    def on(self, event: str, listener: Event) -> Callable[[], None]:
        """Hear an event that the session subscribed to. Call what is returned to stop."""
        listeners = self._listeners.setdefault(event, [])
        listeners.append(listener)
        return lambda: listeners.remove(listener)

    async def hear(self) -> None:
        """Pass on what the browser says, until it hangs up."""
        async for message in self._socket:
            told = message.json()
            if told["type"] == "event":
                for listener in list(self._listeners.get(told["method"], ())):
                    listener(told["params"])
            elif told["id"] in self._waiting and not self._waiting[told["id"]].done():
                self._waiting[told["id"]].set_result(told)


@asynccontextmanager
async def session(address: str) -> AsyncIterator[Bidi]:
    """A session at a browser that listens at `address` (ws://host:port). It ends with the block."""
    async with (
        aiohttp.ClientSession() as http,
        http.ws_connect(f"{address}/session", max_msg_size=0) as socket,
    ):
        bidi = Bidi(socket)
        hearing = asyncio.create_task(bidi.hear())
        try:
            await bidi.send("session.new", capabilities={})
            yield bidi
        finally:
            hearing.cancel()
            await asyncio.wait([hearing])
