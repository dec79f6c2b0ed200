"""Access that ends while everything runs: real processes, a real Redis with its rules, the edge."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from demo.run.ports import free_ports
from demo.run.settings import DEMO_CONFIG, Settings
from tests.live import LiveStack, revoke_tokens
from tests.relay.upstreams import sdk_app, served, toy_server
from tests.stack.callers import hello

pytestmark = pytest.mark.stack

VERSION = "2026-07-28"
# until the relay sees that the file has changed and is at rest
NOTICED_SECONDS = 0.5


class Town:
    """A stack with one server of ours, whose configuration can be written anew."""

    def __init__(self, path: Path, server_url: str) -> None:
        self._path = path
        self._server_url = server_url
        self.makers("ada@strad.test")

    def makers(self, *people: str) -> None:
        """Who is in the group that may use the server."""
        document = yaml.safe_load(DEMO_CONFIG.read_text())
        document["groups"]["toymakers"] = list(people)
        server = {"slug": "toys", "name": "Toys", "url": self._server_url}
        document["servers"] = [server | {"access": {"groups": ["toymakers"]}}]
        self._path.write_text(yaml.safe_dump(document))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[LiveStack]:
        """Everything is up."""
        (port,) = free_ports(1, in_a_row=2)
        stack = LiveStack(Settings(port=port, config=self._path))
        await asyncio.to_thread(stack.__enter__)
        try:
            yield stack
        finally:
            await asyncio.to_thread(stack.__exit__, None, None, None)


@asynccontextmanager
async def listening(url: str, token: str) -> AsyncIterator[aiohttp.StreamReader]:
    """A stream that stays open: `subscriptions/listen`, acknowledged."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    }
    params: dict[str, Any] = {"notifications": {"toolsListChanged": True}, "_meta": meta}
    method = "subscriptions/listen"
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
    }
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    async with (
        aiohttp.ClientSession() as http,
        http.post(url, json=body, headers=headers) as response,
    ):
        assert response.content_type == "text/event-stream", await response.text()
        await response.content.readuntil(b"\n")
        yield response.content


async def _seconds_until_it_ends(
    stack: LiveStack, token: str, happens: Callable[[], object]
) -> float:
    """How long two streams stay open after something has happened."""
    one, all_of_them = f"{stack.url}/mcp/toys", f"{stack.url}/mcp"
    async with listening(one, token) as first, listening(all_of_them, token) as second:
        await asyncio.sleep(0.2)
        await asyncio.to_thread(happens)
        started = time.monotonic()
        async with asyncio.timeout(10):
            await asyncio.gather(first.read(), second.read())
        return time.monotonic() - started


async def test_access_that_is_taken_away_ends_streams_and_gives_nothing_more(
    tmp_path: Path,
) -> None:
    async with served(sdk_app(toy_server())) as url:
        town = Town(tmp_path / "strad.yaml", url)
        async with town.running() as stack:

            async def status(token: str) -> int:
                return (await asyncio.to_thread(hello, f"{stack.url}/mcp/toys", token)).status

            ada = await asyncio.to_thread(stack.token, "ada")
            charles = await asyncio.to_thread(stack.token, "charles")
            assert [await status(ada), await status(charles)] == [200, 404]
            seconds = await _seconds_until_it_ends(
                stack, ada, lambda: town.makers("charles@strad.test")
            )
            assert seconds < NOTICED_SECONDS + 1
            assert [await status(ada), await status(charles)] == [404, 200]
            assert "config-applied" in stack.log("relay")

            visitor = await asyncio.to_thread(stack.visitor, "charles")
            seconds = await _seconds_until_it_ends(stack, charles, lambda: revoke_tokens(visitor))
            assert seconds < 1
            assert await status(charles) == 401
