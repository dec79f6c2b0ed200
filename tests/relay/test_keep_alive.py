"""A stream in which nothing happens is kept open: a proxy on the way takes silence for an end."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from services.relay.changes import telling
from services.relay.messages import events
from tests.relay.changing import ChangingLegacy
from tests.relay.house import house
from tests.relay.new_caller import LISTS, listen
from tests.relay.old_caller import OldCaller
from tests.relay.test_alive import open_stream
from tests.relay.upstreams import modern_fake, sdk_app, served, toy_server


async def test_the_stream_of_a_silent_server_carries_comments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "SILENT_SECONDS", 0.05)
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "a", "url": url}]) as h,
        open_stream(h, h.url) as stream,
    ):
        async with asyncio.timeout(5):
            heard = await stream.readexactly(3 * len(b": still here\n\n"))
        assert heard == b": still here\n\n" * 3


async def test_a_stream_that_the_relay_writes_itself_carries_comments_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(telling, "KEEP_ALIVE_SECONDS", 0.05)
    async with (
        ChangingLegacy().served() as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        caller = await OldCaller.begin(h, "/mcp")
        async with asyncio.timeout(5), listen(h, "/mcp", LISTS) as new, caller.stream() as old:
            for stream in (new, old):
                assert b": still here" in await stream.content.readuntil(b": still here\n\n")


async def test_comments_stand_between_events_and_change_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "SILENT_SECONDS", 0.05)

    async def call(request: web.Request, message: Any) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        await stream.write(b'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\nda')
        await asyncio.sleep(0.3)  # silent in the middle of an event
        await stream.write(b'ta: {"jsonrpc":"2.0","id":7,"result":{"content":[]}}\n\n')
        return stream

    async with (
        modern_fake([], call).served() as url,
        house([{"slug": "x", "url": url}]) as h,
    ):
        status, text = await h.modern("/mcp/x", "tools/call", {"name": "go"})
    parts = text.split("\n\n")
    assert status == 200
    assert parts[0].startswith('data: {"jsonrpc":"2.0","method"')
    assert set(parts[1:-2]) == {": still here"}
    assert parts[-2:] == ['data: {"jsonrpc":"2.0","id":7,"result":{"content":[]}}', ""]


async def test_an_answer_that_comes_late_is_plain_json_if_nothing_came_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "SILENT_SECONDS", 0.05)

    async def call(request: web.Request, message: Any) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        await asyncio.sleep(0.3)
        await stream.write(b'data: {"jsonrpc":"2.0","id":7,"result":{"content":[]}}\n\n')
        return stream

    async with (
        modern_fake([], call).served() as url,
        house([{"slug": "x", "url": url}]) as h,
    ):
        answer = await h.modern("/mcp/x", "tools/call", {"name": "go"})
    assert answer == (200, {"jsonrpc": "2.0", "id": 7, "result": {"content": []}})
