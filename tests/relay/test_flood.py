"""A server that floods its stream with next to nothing: the calls of everybody else go on."""

import asyncio
import time
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.relay.house import House, house
from tests.relay.upstreams import LegacyFake, modern_fake

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


class Flooding(LegacyFake):
    """Sends one small thing without end, to whoever listens."""

    def __init__(self, thing: bytes) -> None:
        super().__init__()
        self._thing = thing

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        if request.method == "GET":
            return self._flood(request)
        return super()._reply(request, message)

    async def _flood(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        much = self._thing * (65536 // len(self._thing))
        while True:
            await response.write(much)


async def _listen(h: House, heard: asyncio.Event) -> None:
    sent = {"Accept": "application/json, text/event-stream"} | await h.bearer()
    async with h.http.post(h.url + "/mcp/bad", json=HELLO, headers=sent) as response:
        sent["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
    async with h.http.get(h.url + "/mcp/bad", headers=sent) as response:
        async for _ in response.content.iter_any():
            heard.set()


@pytest.mark.parametrize("thing", [b":\n\n", b"data:x\n\n"])
async def test_a_flood_of_tiny_events_holds_up_nobody_else(thing: bytes) -> None:
    good = modern_fake([], lambda *_: {"result": {"resultType": "complete", "content": []}})
    async with (
        Flooding(thing).served() as bad_url,
        good.served() as url,
        house([{"slug": "bad", "url": bad_url}, {"slug": "good", "url": url}]) as h,
    ):
        await h.modern("/mcp/good", "tools/call", {"name": "go"})
        heard = asyncio.Event()
        listener = asyncio.create_task(_listen(h, heard))
        await asyncio.wait_for(heard.wait(), 20)
        taken = []
        for _ in range(6):
            started = time.monotonic()
            status, _ = await h.modern("/mcp/good", "tools/call", {"name": "go"})
            taken.append(time.monotonic() - started)
            assert status == 200
        listener.cancel()
        # a second and a half for each call, where a piece of any size is worked off at one go
        assert sum(taken) / len(taken) < 0.6, taken
        with pytest.raises((asyncio.CancelledError, aiohttp.ClientError)):
            await listener
