"""An MCP client works with the published servers through /mcp as it works with them directly."""

import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.extension import advertise
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from shared.contracts.wire import APP_MIME_TYPE, UI_EXTENSION
from tests.live import LiveStack
from tests.real.published import SERVERS, Published

pytestmark = [pytest.mark.node, pytest.mark.stack]

every_server = pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.slug)
# the SDK's own client reads no event of more than 1 MB, and this one's page is larger
of_a_usual_size = pytest.mark.parametrize(
    "server", [one for one in SERVERS if one.slug != "threejs"], ids=lambda server: server.slug
)
# these servers speak 2025-11-25; for a caller of 2026-07-28 the relay goes between
both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@asynccontextmanager
async def client(
    url: str, mode: Any, token: str = "", *, apps: bool = True
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    spoken = [advertise(UI_EXTENSION, {"mimeTypes": [APP_MIME_TYPE]})] if apps else []
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(
            streamable_http_client(url, http_client=http), mode=mode, extensions=spoken
        ) as found,
    ):
        yield found


@every_server
@both_eras
async def test_its_tools_are_listed_with_their_page(
    server: Published, mode: str, console: LiveStack, token: str
) -> None:
    async with client(f"{console.url}/mcp/{server.slug}", mode, token) as through:
        tools = {tool.name: tool for tool in (await through.list_tools()).tools}
    assert set(tools) == server.tools
    assert (tools[server.tool].meta or {})["ui"]["resourceUri"] == server.uri


@of_a_usual_size
@both_eras
async def test_its_page_arrives_unchanged(
    server: Published, mode: str, console: LiveStack, token: str, addresses: Mapping[str, str]
) -> None:
    async with client(addresses[server.slug], "legacy") as direct:
        (wanted,) = (await direct.read_resource(server.uri)).contents
    async with client(f"{console.url}/mcp/{server.slug}", mode, token) as through:
        (found,) = (await through.read_resource(server.uri)).contents
    assert found.mime_type == APP_MIME_TYPE
    assert found == wanted


@every_server
@both_eras
async def test_its_tool_answers_as_it_does_directly(
    server: Published, mode: str, console: LiveStack, token: str
) -> None:
    async with client(f"{console.url}/mcp/{server.slug}", mode, token) as through:
        result = await through.call_tool(server.tool, {})
    assert not result.is_error
    assert bool(result.structured_content) is server.structured
    assert result.content


async def test_all_of_them_are_in_one_list_under_their_slugs(
    console: LiveStack, token: str
) -> None:
    async with client(f"{console.url}/mcp", "2026-07-28", token) as through:
        names = {tool.name for tool in (await through.list_tools()).tools}
        result = await through.call_tool("basic-vanillajs__get-time", {})
    assert names == {f"{server.slug}__{tool}" for server in SERVERS for tool in server.tools}
    assert not result.is_error
    assert "time" in json.dumps(result.structured_content)


@both_eras
async def test_what_is_for_its_page_only_is_hidden_from_a_client_without_pages(
    mode: str, console: LiveStack, token: str
) -> None:
    async with client(f"{console.url}/mcp/debug", mode, token, apps=False) as through:
        names = {tool.name for tool in (await through.list_tools()).tools}
        with pytest.raises(MCPError, match="Unknown tool: debug-refresh"):
            await through.call_tool("debug-refresh", {})
        shown = await through.call_tool("debug-tool", {})
    assert names == {"debug-tool"}
    assert not shown.is_error


async def test_somebody_without_the_right_sees_none_of_them(console: LiveStack) -> None:
    token = console.token("charles")
    async with client(f"{console.url}/mcp", "2026-07-28", token) as through:
        assert (await through.list_tools()).tools == []


@every_server
def test_it_listens_on_loopback_only(server: Published, addresses: Mapping[str, str]) -> None:
    port = int(addresses[server.slug].split(":")[2].split("/")[0])
    socket.create_connection(("127.0.0.1", port), timeout=2).close()
    # a listener on all interfaces would answer here as well
    with pytest.raises(OSError, match=r"refused|timed out"):
        socket.create_connection(("127.0.0.2", port), timeout=2)
