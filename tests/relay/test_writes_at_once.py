"""What two replicas write at the same time: nothing is lost, and nothing ended comes back."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from services.relay.callers.sessions import McpSession, McpSessions
from services.relay.changes.subscribed import Subscribed
from shared import keys
from shared.signing import Seal
from shared.stores.alone import Alone
from shared.stores.memory import MemoryKeyValue
from tests.relay.house import Clock
from tests.relay.old_caller import OldCaller, message
from tests.relay.test_logs import LEVEL
from tests.relay.twins import two_before
from tests.relay.upstreams import LegacyFake

KEY = keys.MCP_SESSION.key("alone", "x")


class Far(MemoryKeyValue):
    """A store that is far away: what is read is old when it arrives, and what is written new."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.clock = clock
        self.written = 0

    async def get(self, key: str) -> bytes | None:
        found = await super().get(key)
        await asyncio.sleep(0.01)
        return found

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        await asyncio.sleep(0.01)
        await super().put(key, value, seconds)

    async def replace(self, key: str, value: bytes, seconds: int) -> bool:
        await asyncio.sleep(0.01)
        if key not in self._values:
            return False
        self._values[key] = (value, self.clock() + seconds)
        self.written += 1
        return True

    async def index(self, key: str) -> set[str]:
        found = await super().index(key)
        await asyncio.sleep(0.01)
        return found

    async def index_add(self, key: str, member: str, seconds: int) -> None:
        self._sets[key] = (await super().index(key) | {member}, self.clock() + seconds)

    async def add(self, key: str, value: bytes, seconds: int) -> bool:
        if self._values.get(key, (b"", 0.0))[1] > self.clock():
            return False
        self._values[key] = (value, self.clock() + seconds)
        return True


class Two:
    """Two replicas, one session of ada's that nobody has used for a while."""

    def __init__(self) -> None:
        self.store = Far(Clock())
        seal = Seal([b"s" * 32], b"i" * 32)
        self.one, self.two = (McpSessions(self.store, seal, self.store.clock, 10) for _ in "12")
        self.id = ""

    async def begin(self, later: float = 61) -> None:
        session = McpSession(
            subject="ada", view="a", params={}, version="2025-11-25", through=True, upstream="s1"
        )
        self.id = await self.one.begin(session)
        self.store.clock.offset += later

    async def find(self, at: McpSessions) -> McpSession | None:
        return await at.find(self.id, "ada", "a")

    async def found(self) -> McpSession:
        found = await self.find(self.one)
        assert found is not None
        return found


@pytest.mark.parametrize("after", [0.0, 0.005, 0.015, 0.025])
@pytest.mark.parametrize("first", ["used", "changed"])
async def test_what_a_session_is_set_to_stays_though_it_is_used_elsewhere_at_the_same_time(
    first: str, after: float
) -> None:
    two = Two()
    await two.begin()
    works = [two.find(two.one), two.one.change(two.id, log_level="error")]
    works.append(two.two.change(two.id, upstream="s2"))
    for work in works if first == "used" else reversed(works):
        await asyncio.sleep(after)
        asyncio.create_task(work)  # noqa: RUF006 (awaited below)
    await _all()
    found = await two.found()
    assert (found.log_level, found.upstream) == ("error", "s2")
    assert two.store.clock() - found.touched < 2


async def _all() -> None:
    """Wait for what was begun."""
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})


@pytest.mark.parametrize("after", [0.0, 0.005, 0.015, 0.025])
async def test_a_session_that_ends_while_it_is_used_stays_ended(after: float) -> None:
    two = Two()
    await two.begin()
    session = McpSession(subject="ada", view="a", params={}, version="2025-11-25", through=True)
    using = asyncio.create_task(two.find(two.one))
    setting = asyncio.create_task(two.one.change(two.id, log_level="error"))
    await asyncio.sleep(after)
    await two.two.end(two.id, session)
    await asyncio.gather(using, setting)
    assert await two.find(two.one) is None
    assert await two.one.change(two.id, log_level="info") is None
    assert two.store._used == {"mcp:of:ada": {}}


async def test_of_many_requests_that_use_a_session_after_a_while_one_writes_that_down() -> None:
    two = Two()
    await two.begin()
    found = await asyncio.gather(*(two.find(at) for at in (two.one, two.two) * 5))
    assert all(found)
    assert two.store.written == 1
    two.store.clock.offset += 61
    assert await two.find(two.two) is not None
    assert two.store.written == 2


async def test_who_dies_inside_holds_the_others_up_for_a_while_and_no_longer() -> None:
    store, entered = MemoryKeyValue(Clock()), asyncio.Event()
    store._clock = clock = Clock()
    await store.add(KEY, b"1", 5)

    async def enters() -> None:
        async with Alone(store).at(KEY, 5):
            entered.set()

    task = asyncio.create_task(enters())
    await asyncio.sleep(0.1)
    assert not entered.is_set()
    clock.offset += 5
    await asyncio.wait_for(task, 5)
    async with asyncio.timeout(5), Alone(store).at(KEY, 5):  # and who leaves holds up nobody
        pass


async def test_who_fails_inside_holds_nobody_up() -> None:
    store = MemoryKeyValue()
    with pytest.raises(ZeroDivisionError):
        async with Alone(store).at(KEY, 60):
            raise ZeroDivisionError
    async with asyncio.timeout(5), Alone(store).at(KEY, 60):
        pass


async def test_what_is_subscribed_to_twice_at_once_is_one_subscription_and_ends_as_one() -> None:
    store = Far(Clock())
    one, two = (Subscribed(store, Seal([b"s" * 32], b"i" * 32), store.clock) for _ in "12")
    session = keys.MCP_SESSION.key("x")
    assert all(await asyncio.gather(*(at.add(session, "x://r") for at in (one, two))))
    assert await one.add(session, "x://s")
    assert await two.uris(session) == ("x://r", "x://s")
    await one.remove(session, "x://r")
    assert await two.uris(session) == ("x://s",)


class Thoughtful(LegacyFake):
    """A server that takes a while to begin a session."""

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        reply = super()._reply(request, message)
        return _later(reply) if message.get("method") == "initialize" else reply


async def _later(reply: Any) -> Any:
    await asyncio.sleep(0.1)
    return reply


@asynccontextmanager
async def _twins() -> AsyncIterator[tuple[Thoughtful, Any, str]]:
    server = Thoughtful()
    async with two_before(server) as (h, other):
        yield server, h, other


async def test_a_session_that_a_server_lost_is_renewed_once_whoever_finds_out() -> None:
    async with _twins() as (server, h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        server.lose()
        callers = [OldCaller(h, "/mcp/a", caller.session, at) for at in (h.url, other) * 3]
        answers = await asyncio.gather(*(one.ask("tools/list", n) for n, one in enumerate(callers)))
        assert all(answer["result"]["tools"] for (answer,) in answers)
        assert server.opened == 2


async def test_a_session_that_ends_while_it_is_renewed_has_ended() -> None:
    async with _twins() as (server, h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        server.lose()
        asked = asyncio.create_task(h.send("/mcp/a", message("tools/list"), headers=_of(caller)))
        async with asyncio.timeout(5):
            while server.methods.count("initialize") < 2:
                await asyncio.sleep(0.005)
        async with h.http.delete(other + "/mcp/a", headers=await caller.headers()) as response:
            assert response.status == 200
        assert (await asked)[0] == 404
        assert (await h.send("/mcp/a", message("tools/list"), headers=_of(caller)))[0] == 404


def _of(caller: OldCaller) -> dict[str, str]:
    return {"Mcp-Session-Id": caller.session}


async def test_a_session_for_callers_who_have_none_is_opened_once_whoever_comes_first() -> None:
    async with _twins() as (server, h, other):
        begun = [OldCaller.begin(h, "/mcp", at=at) for at in (h.url, other) * 3]
        for caller in await asyncio.gather(*begun):
            assert (await caller.ask("tools/list"))[-1]["result"]["tools"]
        assert server.opened == 1
        server.lose()
        callers = [await OldCaller.begin(h, "/mcp", at=at) for at in (h.url, other)]
        calls = [one.ask("tools/call", name="a__go", arguments={}) for one in callers]
        await asyncio.gather(*calls)
        assert server.opened == 2


class Loud(LegacyFake):
    """A server with log lines. It takes long to become quiet, and no time to become loud."""

    level = ""

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        if message.get("method") == "logging/setLevel":
            return self._becomes(message["params"]["level"])
        return super()._reply(request, message)

    def _begin(self, message: dict[str, Any]) -> web.Response:
        reply = super()._begin(message)
        assert isinstance(reply.body, bytes)
        body = json.loads(reply.body)
        body["result"]["capabilities"]["logging"] = {}
        return web.json_response(body, headers={"Mcp-Session-Id": reply.headers["Mcp-Session-Id"]})

    async def _becomes(self, level: str) -> Any:
        await asyncio.sleep(0.01 if level == "debug" else 0.1)
        self.level = level
        return {"result": {}}


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("levels", [("error", "debug"), ("debug", "error")], ids="-".join)
async def test_of_two_who_ask_for_log_lines_at_once_the_louder_has_his(
    levels: tuple[str, str], elsewhere: bool
) -> None:
    server = Loud()
    async with two_before(server) as (h, other):

        async def call(level: str, at: str) -> None:
            here = replace(h, url=at)
            params = {"name": "go", "arguments": {}, "_meta": {LEVEL: level}}
            host = {"Host": h.url.removeprefix("http://")}
            status, _ = await here.modern("/mcp/a", "tools/call", params, headers=host)
            assert status == 200

        await call("emergency", h.url)
        places = (h.url, other if elsewhere else h.url)
        await asyncio.gather(*map(call, levels, places))
        assert server.level == "debug"
        asked = server.methods.count("logging/setLevel")
        await call("info", other)
        assert server.methods.count("logging/setLevel") == asked
