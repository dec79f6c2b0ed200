"""A real Redis breaks off, or loses all it had, while calls are at work and streams are open."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller
from tests.relay.stuck import PARAMS, SECRET, Stuck
from tests.relay.test_alive import open_stream
from tests.relay.upstreams import sdk_app, served, toy_server
from tests.shared.valkey import Valkey, valkey
from tests.shared.way import Way

CALL = ("/mcp/stuck", "tools/call", PARAMS["tools/call"])


def port_of(server: Valkey) -> int:
    return int(str(urlsplit(server.url).port))


@asynccontextmanager
async def town(way: Way, server: Stuck) -> AsyncIterator[House]:
    """`a` keeps a stream open, `stuck` does not come to an end."""
    async with way.served() as store, server.served() as url, served(sdk_app(toy_server())) as toys:
        servers: list[dict[str, Any]] = [{"slug": "a", "url": toys}]
        servers += [{"slug": "stuck", "url": url, "timeout": 20}]
        async with house(servers, store=store) as h:
            yield h


async def at_work(h: House, server: Stuck) -> "asyncio.Task[tuple[int, Any]]":
    task = asyncio.create_task(h.modern(*CALL))
    await asyncio.wait_for(server.began.wait(), 5)
    return task


async def test_connections_that_break_off_end_no_call_and_no_stream_and_words_are_heard_again(
    tmp_path: Path,
) -> None:
    server = Stuck("modern")
    with valkey(tmp_path) as redis:
        way = Way(port_of(redis))
        async with town(way, server) as h, open_stream(h, h.url) as stream:
            task = await at_work(h, server)
            for _ in range(3):
                way.cut()
                assert (await h.modern("/mcp/a", "tools/list"))[0] == 200
            server.go_on.set()
            status, body = await asyncio.wait_for(task, 5)
            assert (status, SECRET in str(body)) == (200, True)
            assert not stream.at_eof()
            subject = h.person("ada").subject
            (record,) = (await h.token_writer.of(subject)).values()
            await h.token_writer.revoke(subject, record.id)
            # half a second until a listener is there again, and the second that is promised
            async with asyncio.timeout(2):
                await stream.read()


async def test_a_redis_that_has_lost_everything_lets_nobody_go_on_and_everybody_begin_anew(
    tmp_path: Path,
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    server = Stuck("modern")
    with valkey(tmp_path / "one") as first, valkey(tmp_path / "other") as second:
        way = Way(port_of(first))
        async with town(way, server) as h, open_stream(h, h.url) as stream:
            caller = await OldCaller.begin(h, "/mcp")
            task = await at_work(h, server)
            way.port = port_of(second)
            first.process.kill()
            first.process.wait()
            async with asyncio.timeout(5):
                await stream.read()
                status, body = await task
            assert (status, body["error"]["data"]["kind"]) == (403, "forbidden")
            assert (await h.modern("/mcp/a", "tools/list"))[0] == 401
            h.tokens.clear()  # a new one is made
            assert (await h.modern("/mcp/a", "tools/list"))[0] == 200
            # clients begin a new session at this
            assert await caller.tell("notifications/initialized") == 404
            again = await OldCaller.begin(h, "/mcp")
            (answer,) = await again.ask("tools/list")
            assert "a__echo" in {tool["name"] for tool in answer["result"]["tools"]}
