"""Whatever breaks: nothing hangs past its deadline, no call is repeated, and the next one works."""

import asyncio
import time
from typing import Any

import pytest

from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.relay.house import house
from tests.relay.test_audit import trail
from tests.relay.upstreams import Fake, LegacyFake, modern_fake

RESULT = {"content": [], "structuredContent": {"n": 7}}


def _server(era: str) -> Fake:
    if era == "legacy":
        return LegacyFake()
    return modern_fake([], lambda *_: {"result": {"resultType": "complete", **RESULT}})


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(("path", "tool"), [("/mcp/x", "write"), ("/mcp", "x__write")])
async def test_a_server_that_restarts_between_two_writes_gets_each_at_most_once(
    era: str, path: str, tool: str
) -> None:
    fake = _server(era)
    async with (
        fake.restartable() as (url, stop, start),
        house([{"slug": "x", "url": url, "timeout": 2}]) as h,
    ):
        for restart in range(3):
            params = {"name": tool, "arguments": {"n": restart}}
            status, body = await h.modern(path, "tools/call", params)
            assert (status, body["result"]["structuredContent"]) == (200, {"n": 7})
            await stop()
            if isinstance(fake, LegacyFake):
                fake.lose()
            await start()
            before = fake.methods.count("tools/call")
            status, body = await h.modern(path, "tools/call", params)
            done = fake.methods.count("tools/call") - before
            if status == 200:
                assert (body["result"]["structuredContent"], done) == ({"n": 7}, 1)
            else:
                assert status == 502, body
                assert body["error"]["message"]
                assert "result" not in body
            assert done <= 1


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_server_that_hangs_and_then_wakes_answers_the_next_call(era: str) -> None:
    hangs = True

    class Sleepy(LegacyFake):
        def _reply(self, request: Any, message: Any) -> Any:
            if hangs and message.get("method") == "tools/call":
                return asyncio.sleep(30)
            return super()._reply(request, message)

    def call(*_: Any) -> Any:
        return asyncio.sleep(30) if hangs else {"result": {"resultType": "complete", **RESULT}}

    fake = Sleepy() if era == "legacy" else modern_fake([], call)
    async with fake.served() as url, house([{"slug": "x", "url": url, "timeout": 1}]) as h:
        await h.token()
        started = time.monotonic()
        many = [h.modern("/mcp/x", "tools/call", {"name": "go"}) for _ in range(8)]
        answers = await asyncio.gather(*many)
        assert {status for status, _ in answers} == {504}
        assert time.monotonic() - started < 5
        hangs = False
        status, body = await h.modern("/mcp/x", "tools/call", {"name": "go"})
        assert (status, body["result"]["structuredContent"]) == (200, {"n": 7})
        ends = await trail(h, 9)
        assert sorted(one["outcome"] for one in ends) == ["result"] + ["upstream-timeout"] * 8


class Breaking(MemoryKeyValue):
    """A store that can go away as a whole."""

    away = False

    def __getattribute__(self, name: str) -> Any:
        if name in {"look", "get", "get_many", "put", "count", "append"} and self.away:
            raise StoreUnavailable("away")
        return super().__getattribute__(name)


async def test_a_call_under_way_outlives_the_store_and_its_end_is_told_later() -> None:
    go, store = asyncio.Event(), Breaking()

    async def call(*_: Any) -> Any:
        await go.wait()
        return {"result": {"resultType": "complete", **RESULT}}

    fake = modern_fake([], call)
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url, "timeout": 20}], store=store) as h,
    ):
        task = asyncio.create_task(h.modern("/mcp/x", "tools/call", {"name": "go"}))
        (first,) = await trail(h, 1, running=True)
        store.away = True
        assert (await h.modern("/mcp/x", "tools/call", {"name": "go"}))[0] == 503
        go.set()
        status, body = await task
        assert (status, body["result"]["structuredContent"]) == (200, {"n": 7})
        store.away = False
        (last,) = await trail(h, 1)
        assert (last["id"], last["outcome"]) == (first["id"], "result")
        assert (await h.modern("/mcp/x", "tools/call", {"name": "go"}))[0] == 200
