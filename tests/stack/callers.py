"""MCP callers: the SDK's client, and single messages for what a client would never send."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.visitor import Reply, ask

OLD, NEW = "2025-11-25", "2026-07-28"
HELLO = {
    "protocolVersion": OLD,
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@asynccontextmanager
async def connected(url: str, token: str, version: str) -> AsyncIterator[Client]:
    """The SDK's client, speaking one version."""
    headers = {"Authorization": f"Bearer {token}"}
    mode = "legacy" if version == OLD else version
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        assert client.protocol_version == version
        yield client


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """The words with which a call is refused, as an error of the protocol or of the tool."""
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return str(error)
    assert result.is_error, f"an empty success: {result}"
    return str(result.content)


def message(method: str, params: dict[str, Any] | None = None, id_: int | None = 1) -> str:
    """A JSON-RPC request; a notification without an id."""
    value: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    return json.dumps(value if id_ is None else value | {"id": id_})


def post(url: str, token: str | None, body: str | bytes, **headers: str) -> Reply:
    """One message as a client of 2025-11-25 sends it. `Mcp_Session_Id="…"` adds a header."""
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": OLD,
    }
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return ask(url, "POST", body=body, headers=sent)


def hello(url: str, token: str | None, **headers: str) -> Reply:
    """The first message of a session."""
    return post(url, token, message("initialize", HELLO), **headers)


def answer(reply: Reply) -> dict[str, Any]:
    """The JSON-RPC answer in a reply, be it JSON or the last event of a stream."""
    text = reply.text
    if reply.headers.get_content_type() == "text/event-stream":
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    return dict(json.loads(text))
