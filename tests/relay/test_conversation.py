"""A caller and a server of one version talk through the relay as if it were not there."""

import asyncio
import contextlib
from typing import Any

import aiohttp
import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitResult
from pydantic import BaseModel

from shared.web.serve import GRACE_SECONDS
from tests.relay.house import House, house
from tests.relay.upstreams import sdk_app, served


class Colour(BaseModel):
    colour: str


def _talkative() -> MCPServer:
    server = MCPServer("talk")

    @server.tool()
    async def steps(ctx: Context[Any]) -> str:
        for number in range(3):
            await ctx.report_progress(number, 3)
        return "done"

    @server.tool()
    async def ask(ctx: Context[Any]) -> str:
        answer = await ctx.elicit("Which colour?", Colour)
        return answer.data.colour if answer.action == "accept" else "none"

    @server.tool()
    async def big() -> str:
        return "x" * 2_000_000

    @server.tool()
    async def wait() -> str:
        await asyncio.sleep(30)
        return "late"

    return server


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_progress_and_large_results_arrive(mode: str) -> None:
    seen: list[float] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async with (
        served(sdk_app(_talkative())) as url,
        house([{"slug": "a", "url": url}]) as h,
        h.client("/mcp/a", mode) as client,
    ):
        result: Any = await client.call_tool("steps", {}, progress_callback=progress)
        assert result.content[0].text == "done"
        assert seen == [0, 1, 2]
        # more than the SDK's client takes as one event: it comes as plain JSON
        result = await client.call_tool("big", {})
        assert len(result.content[0].text) == 2_000_000


async def test_a_server_asks_its_caller_and_gets_the_answer() -> None:
    asked: list[str] = []

    async def answer(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"colour": "red"})

    async with (
        served(sdk_app(_talkative())) as url,
        house([{"slug": "a", "url": url}]) as h,
        h.client("/mcp/a", "legacy", elicitation_callback=answer) as client,
    ):
        result: Any = await client.call_tool("ask", {})
        assert result.content[0].text == "red"
    assert asked == ["Which colour?"]


async def test_a_server_that_cannot_ask_across_versions_is_told_so() -> None:
    async with (
        served(sdk_app(_talkative(), "legacy")) as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        async with asyncio.timeout(4):
            status, body = await h.modern("/mcp/a", "tools/call", {"name": "ask"})
        assert status == 200
        assert "cannot be asked" in body["error"]["message"]


async def _listen(h: House, got: list[bytes]) -> None:
    begin = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    headers = await h.bearer() | {"Accept": "application/json, text/event-stream"}
    async with h.http.post(h.url + "/mcp/a", json=begin, headers=headers) as response:
        headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
    async with h.http.get(h.url + "/mcp/a", headers=headers) as response:
        assert response.status == 200
        assert response.content_type == "text/event-stream"
        async for chunk in response.content.iter_any():
            got.append(chunk)


async def test_an_open_stream_ends_when_its_token_is_revoked() -> None:
    async with served(sdk_app(_talkative())) as url, house([{"slug": "a", "url": url}]) as h:
        task = asyncio.create_task(_listen(h, []))
        await asyncio.sleep(0.5)
        assert not task.done()
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        async with asyncio.timeout(1):
            await task


async def test_a_stream_that_its_reader_leaves_is_closed_at_the_server_too() -> None:
    async with served(sdk_app(_talkative())) as url, house([{"slug": "a", "url": url}]) as h:
        task = asyncio.create_task(_listen(h, []))
        await asyncio.sleep(0.3)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        # the server allows one such stream a session: a second one works if the first is gone
        task = asyncio.create_task(_listen(h, []))
        await asyncio.sleep(0.3)
        assert not task.done()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_relay_that_stops_does_not_wait_for_open_streams() -> None:
    async with served(sdk_app(_talkative())) as url, aiohttp.ClientSession() as own:
        async with house([{"slug": "a", "url": url}]) as h:
            h.http, http = own, h.http
            task = asyncio.create_task(_listen(h, []))
            await asyncio.sleep(0.3)
            assert not task.done()
            h.http = http
            stopping = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - stopping < GRACE_SECONDS / 2
        async with asyncio.timeout(2):
            with contextlib.suppress(aiohttp.ClientError):
                await task


async def test_a_cancelled_call_is_cancelled_at_an_older_server_by_a_message() -> None:
    cancelled = asyncio.Event()
    server = MCPServer("slow")

    @server.tool()
    async def wait() -> str:
        try:
            await asyncio.sleep(30)
        finally:
            cancelled.set()
        return "late"

    async with (
        served(sdk_app(server, "legacy")) as url,
        house([{"slug": "a", "url": url, "timeout": 20}]) as h,
    ):
        task = asyncio.create_task(h.modern("/mcp/a", "tools/call", {"name": "wait"}))
        await asyncio.sleep(0.5)
        task.cancel()
        async with asyncio.timeout(3):
            await cancelled.wait()
