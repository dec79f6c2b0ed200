"""A session's stream and its first call arrive at two replicas: the stream is at the server first.

What a server asks in the stream is lost to a client whose call overtook it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from services.relay.changes import stream_first
from shared import keys
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller, messages
from tests.relay.twins import twin, two_before
from tests.relay.upstreams import LegacyFake

NEVER = 60.0
ASKED = {"jsonrpc": "2.0", "id": "q", "method": "roots/list"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "go", "arguments": {}}),
    ("prompts/get", {"name": "go"}),
    ("resources/read", {"uri": "file:///go"}),
]


class AsksInStream(LegacyFake):
    """Asks in the session's stream while it works, as the SDK of 1.x does; tells how it went."""

    def __init__(self, *, streams: bool = True, keeps: bool = True, far: float = 0.02) -> None:
        super().__init__(keeps=keeps)
        self._streams = streams
        self._far = far
        self._open: web.StreamResponse | None = None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method != "GET":
            return await super().handle(request)
        self.seen.append(request)
        if not self._streams:
            return web.Response(status=405)
        await asyncio.sleep(self._far)  # a stream takes a while
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self._open = response
        await asyncio.sleep(NEVER)
        return response

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        if message.get("method") in dict(CALLS):
            return self._asked()
        return super()._reply(request, message)

    async def _asked(self) -> Any:
        if self._open is None:
            return {"result": {"content": [], "structuredContent": {"asked": False}}}
        await self._open.write(b'data: {"jsonrpc":"2.0","id":"q","method":"roots/list"}\n\n')
        return {"result": {"content": [], "structuredContent": {"asked": True}}}


@asynccontextmanager
async def opening(caller: OldCaller, at: str) -> AsyncIterator[asyncio.Queue[Any]]:
    """Opens the session's stream at a replica, and does not wait for it: what comes in it, or the
    status that is there in its place.
    """
    heard: asyncio.Queue[Any] = asyncio.Queue()

    async def listen() -> None:
        async with OldCaller(caller.h, caller.path, caller.session, at).stream() as response:
            if response.status != 200:
                heard.put_nowait(response.status)
            async for message in messages(response):
                heard.put_nowait(message)

    task = asyncio.create_task(listen())
    try:
        yield heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _after(event: asyncio.Event, reply: Any) -> Any:
    await event.wait()
    return reply


async def _due(h: House, caller: OldCaller) -> bool:
    digest = h.settings.base.seal.digest("mcp-session", caller.session)
    return await h.store.get(keys.MCP_STREAM_DUE.key(digest)) is not None


async def _asked(caller: OldCaller, method: str, params: dict[str, Any]) -> Any:
    return (await caller.ask(method, **params))[-1]["result"]["structuredContent"]["asked"]


@pytest.mark.parametrize(("method", "params"), CALLS, ids=[method for method, _ in CALLS])
@pytest.mark.parametrize("order", ["one-other", "other-one", "one-one"])
async def test_a_call_that_overtakes_the_stream_waits_for_it(
    order: str, method: str, params: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_first, "WAIT_SECONDS", NEVER)
    server = AsksInStream()
    async with asyncio.timeout(20), two_before(server) as (h, other):
        places = {"one": h.url, "other": other}
        calls_at, listens_at = (places[name] for name in order.split("-"))
        caller = await OldCaller.begin(h, "/mcp/a")
        caller.at = calls_at
        call = asyncio.create_task(_asked(caller, method, params))
        await asyncio.sleep(0.05)
        assert not call.done()
        async with opening(caller, listens_at) as heard:
            assert await call is True
            # and from then on nothing waits
            assert not await _due(h, caller)
            assert await _asked(caller, method, params) is True
            assert await heard.get() == ASKED


async def test_a_call_and_its_stream_at_once_never_miss_each_other() -> None:
    for _ in range(25):
        server = AsksInStream()
        async with two_before(server) as (h, other):
            caller = await OldCaller.begin(h, "/mcp/a")
            async with opening(caller, other) as heard:
                assert await _asked(caller, *CALLS[0]) is True
                assert await heard.get() == ASKED


async def test_a_stream_of_a_server_that_is_far_is_waited_for_longer() -> None:
    server = AsksInStream(far=3 * stream_first.WAIT_SECONDS)
    async with two_before(server) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        async with opening(caller, other) as heard:
            assert await _asked(caller, *CALLS[0]) is True
            assert await heard.get() == ASKED


async def test_a_stream_that_does_not_come_is_not_waited_for_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_first, "COMING_SECONDS", 0.2)
    server = AsksInStream(far=NEVER)
    async with two_before(server) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        async with asyncio.timeout(10), opening(caller, other):
            assert await _asked(caller, *CALLS[0]) is False
            assert not await _due(h, caller)


async def test_who_opens_no_stream_waits_once_and_not_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_first, "COMING_SECONDS", NEVER)
    server = AsksInStream()
    async with two_before(server) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        assert await _due(h, caller)
        async with asyncio.timeout(10):
            assert await _asked(caller, *CALLS[0]) is False
        assert not await _due(h, caller)
        monkeypatch.setattr(stream_first, "WAIT_SECONDS", NEVER)
        for caller.at in (other, h.url):
            async with asyncio.timeout(10):
                assert await _asked(caller, *CALLS[0]) is False


async def test_calls_that_wait_together_go_on_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_first, "WAIT_SECONDS", NEVER)
    server = AsksInStream()
    async with asyncio.timeout(20), two_before(server) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        callers = [OldCaller(h, "/mcp/a", caller.session, at) for at in (h.url, other) * 3]
        calls = [asyncio.create_task(_asked(one, *CALLS[0])) for one in callers]
        await asyncio.sleep(0.05)
        async with opening(caller, other):
            assert await asyncio.gather(*calls) == [True] * 6


async def test_who_hangs_up_while_he_waits_takes_the_word_from_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_first, "WAIT_SECONDS", NEVER)
    server = AsksInStream()
    async with asyncio.timeout(20), two_before(server) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        leaves, stays = (asyncio.create_task(_asked(caller, *CALLS[0])) for _ in range(2))
        await asyncio.sleep(0.1)
        leaves.cancel()
        await asyncio.gather(leaves, return_exceptions=True)
        await asyncio.sleep(0.1)
        async with opening(caller, other):
            assert await stays is True


async def test_a_stream_that_opened_while_a_call_was_judged_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_first, "WAIT_SECONDS", NEVER)
    lists = asyncio.Event()

    class Slow(AsksInStream):
        def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
            reply = super()._reply(request, message)
            return _after(lists, reply) if message.get("method") == "tools/list" else reply

    server = Slow()
    async with asyncio.timeout(20), two_before(server) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        call = asyncio.create_task(_asked(caller, *CALLS[0]))
        while "tools/list" not in server.methods:
            await asyncio.sleep(0.01)
        async with opening(caller, other):
            while await _due(h, caller):
                await asyncio.sleep(0.01)
            lists.set()
            assert await call is True


async def test_where_the_server_has_no_stream_nothing_waits_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_first, "WAIT_SECONDS", NEVER)
    server = AsksInStream(streams=False)
    async with asyncio.timeout(20), two_before(server) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        call = asyncio.create_task(_asked(caller, *CALLS[0]))
        async with opening(caller, other) as heard:
            assert await heard.get() == 405
        assert await call is False
        # the replica that knows it by now does not even expect one
        later = await OldCaller.begin(h, "/mcp/a", at=other)
        assert not await _due(h, later)
        # and the other one hears it from the relay, without the server
        later = await OldCaller.begin(h, "/mcp/a")
        assert await _due(h, later)
        async with opening(later, other) as heard:
            assert await heard.get() == 405
        assert not await _due(h, later)
        assert len([request for request in server.seen if request.method == "GET"]) == 1


async def test_what_asks_nothing_and_who_has_no_session_there_never_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_first, "WAIT_SECONDS", NEVER)
    keeps, none = AsksInStream(), AsksInStream(keeps=False)
    async with (
        asyncio.timeout(20),
        keeps.served() as one,
        none.served() as two,
        house([{"slug": "a", "url": one}, {"slug": "b", "url": two}]) as h,
    ):
        caller = await OldCaller.begin(h, "/mcp/a")
        assert (await caller.ask("tools/list"))[-1]["result"]["tools"]
        assert await _due(h, caller)
        without = await OldCaller.begin(h, "/mcp/b")
        assert not await _due(h, without)
        assert await _asked(without, *CALLS[0]) is False
        merged = await OldCaller.begin(h, "/mcp")
        assert not await _due(h, merged)


async def test_a_stranger_with_the_sessions_id_does_not_open_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = {"people": ["ada@strad.test", "bob@strad.test"]}
    server = AsksInStream()
    async with server.served() as url, house([{"slug": "a", "url": url, "access": both}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a")
        stranger = OldCaller(h, "/mcp/a", caller.session, h.url, "bob")
        async with stranger.stream() as response:
            assert response.status == 404
        async with stranger.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}) as response:
            assert response.status == 404
        assert await _due(h, caller)


class Speechless(MemoryKeyValue):
    """A store that from some time on removes nothing and passes no word on."""

    broken = False

    async def remove(self, *names: str) -> None:
        if self.broken:
            raise StoreUnavailable
        await super().remove(*names)

    async def publish(self, channel: str, message: bytes) -> None:
        if self.broken:
            raise StoreUnavailable
        await super().publish(channel, message)


async def test_no_word_between_the_replicas_is_a_short_wait_and_no_failure() -> None:
    store = Speechless()
    server = AsksInStream()
    async with (
        asyncio.timeout(20),
        server.served() as url,
        house([{"slug": "a", "url": url}], store=store) as h,
        twin(h) as other,
    ):
        caller = await OldCaller.begin(h, "/mcp/a")
        store.broken = True
        async with opening(caller, other) as heard:
            assert await _asked(caller, *CALLS[0]) is True
            assert await heard.get() == ASKED
