"""A stack whose one server is of the test's own, and what stays open there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from demo.run.ports import free_ports
from demo.run.settings import DEMO_CONFIG, Settings
from tests.live import LiveStack

VERSION = "2026-07-28"


class Town:
    """Its configuration can be written anew."""

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
