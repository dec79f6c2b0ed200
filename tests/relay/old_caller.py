"""A caller of 2025-11-25, message by message, at any replica."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from services.relay.messages.event_ids import EventIds
from shared import keys
from tests.relay.house import House

ACCEPT = "application/json, text/event-stream"


def message(method: str, request_id: Any = 1, **params: Any) -> dict[str, Any]:
    """A request; a notification when its id is None."""
    value = {"jsonrpc": "2.0", "method": method, "params": params}
    return value if request_id is None else value | {"id": request_id}


@dataclass
class OldCaller:
    """In one session on one view. `at`: the address of the relay that is asked next."""

    h: House
    path: str
    session: str
    at: str
    name: str = "ada"

    @classmethod
    async def begin(
        cls,
        h: House,
        path: str,
        *,
        at: str = "",
        name: str = "ada",
        version: str = "2025-11-25",
        **capabilities: Any,
    ) -> "OldCaller":
        """After the handshake."""
        self = cls(h, path, "", at or h.url, name)
        info = {"name": "t", "version": "1"}
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info}
        async with self.post(message("initialize", 0, **params)) as response:
            assert response.status == 200, await response.text()
            self.session = response.headers["Mcp-Session-Id"]
        async with self.post(message("notifications/initialized", None)) as response:
            assert response.status == 202
        return self

    @asynccontextmanager
    async def post(self, body: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        """One message."""
        async with self.h.http.post(
            self.at + self.path, json=body, headers=await self.headers()
        ) as response:
            yield response

    async def ask(self, method: str, request_id: Any = 1, **params: Any) -> list[Any]:
        """All messages of the answer to one request; the answer is the last."""
        async with self.post(message(method, request_id, **params)) as response:
            assert response.status == 200, await response.text()
            if response.content_type == "application/json":
                return [await response.json()]
            return [m async for m in messages(response)]

    async def tell(self, method: str, **params: Any) -> int:
        """A notification; the status."""
        async with self.post(message(method, None, **params)) as response:
            return response.status

    @asynccontextmanager
    async def stream(self, **more: str) -> AsyncIterator[aiohttp.ClientResponse]:
        """GET."""
        headers = await self.headers() | {k.replace("_", "-"): v for k, v in more.items()}
        async with self.h.http.get(self.at + self.path, headers=headers) as response:
            yield response

    async def headers(self) -> dict[str, str]:
        """What each of its requests carries."""
        sent = await self.h.bearer(self.name) | {"Accept": ACCEPT}
        sent["Host"] = self.h.url.removeprefix("http://")
        return sent | ({"Mcp-Session-Id": self.session} if self.session else {})


def event_id(h: House, session: str, own: str) -> str:
    """A server's id of an event, as it is known in a session."""
    seal = h.settings.base.seal
    ids = EventIds(seal, keys.MCP_SESSION.key(seal.digest("mcp-session", session)))
    return ids.marked(f"id: {own}\n\n".encode()).decode().strip().removeprefix("id: ")


async def messages(response: aiohttp.ClientResponse) -> AsyncIterator[Any]:
    """The messages of a stream, as they come; comments are no messages."""
    buffer = b""
    async for chunk in response.content.iter_any():
        buffer += chunk.replace(b"\r\n", b"\n")
        while b"\n\n" in buffer:
            event, _, buffer = buffer.partition(b"\n\n")
            data = [line[5:] for line in event.split(b"\n") if line.startswith(b"data:")]
            if b"".join(data).strip():
                yield json.loads(b"\n".join(data))


class Heard:
    """What comes in a stream, kept while something else goes on."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._heard: asyncio.Queue[Any] = asyncio.Queue()
        self._task = asyncio.create_task(self._read(response))

    async def _read(self, response: aiohttp.ClientResponse) -> None:
        try:
            with contextlib.suppress(aiohttp.ClientError):
                async for one in messages(response):
                    self._heard.put_nowait(one)
        finally:
            self._heard.put_nowait(None)

    async def next(self, seconds: float = 5) -> Any:
        """The next message; None when the stream has ended."""
        async with asyncio.timeout(seconds):
            return await self._heard.get()

    async def nothing(self, seconds: float = 0.3) -> bool:
        """Whether nothing comes for a while."""
        try:
            await self.next(seconds)
        except TimeoutError:
            return True
        return False
