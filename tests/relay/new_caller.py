"""A caller of 2026-07-28 that listens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.relay.house import CAPABILITIES, VERSION, House
from tests.relay.old_caller import ACCEPT, Heard

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
LISTS = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


@asynccontextmanager
async def listening(
    h: House, path: str, wanted: Any, *, at: str = "", name: str = "ada", request_id: Any = "sub"
) -> AsyncIterator[tuple[Any, Heard]]:
    """What was acknowledged, and what comes after it."""
    async with listen(h, path, wanted, at=at, name=name, request_id=request_id) as response:
        assert response.status == 200, await response.text()
        assert response.content_type == "text/event-stream"
        heard = Heard(response)
        first = await heard.next()
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"]["_meta"] == {SUBSCRIPTION: request_id}
        yield first["params"]["notifications"], heard


@asynccontextmanager
async def listen(
    h: House, path: str, wanted: Any, *, at: str = "", name: str = "ada", request_id: Any = "sub"
) -> AsyncIterator[aiohttp.ClientResponse]:
    """The response to `subscriptions/listen`."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
    }
    params = {"_meta": meta, "notifications": wanted}
    body = {"jsonrpc": "2.0", "id": request_id, "method": "subscriptions/listen", "params": params}
    sent = await h.bearer(name) | {"Accept": ACCEPT, "Host": h.url.removeprefix("http://")}
    sent |= {"MCP-Protocol-Version": VERSION, "Mcp-Method": "subscriptions/listen"}
    async with h.http.post((at or h.url) + path, json=body, headers=sent) as response:
        yield response
