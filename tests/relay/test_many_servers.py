"""A view of very many servers: so many are asked at once, and who is slow holds nobody up."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from services.relay.merged.merged_lists import MOST_FRESH_MS
from services.relay.servers import pace
from services.relay.servers.pace import AT_ONCE, LONG_SECONDS
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller
from tests.relay.upstreams import Fake, LegacyFake, modern_fake

MANY = 80
TOOL = {"name": "go", "inputSchema": {"type": "object"}}


class Counting:
    """Servers that answer after a while; how many of them were at work at a time."""

    def __init__(self, seconds: float = 0.02, hang: tuple[int, ...] = ()) -> None:
        self.most = self._now = self.asked = self.given_up = 0
        self._seconds = seconds
        self._hang = hang
        self.fake = modern_fake(None, **{"tools/list": lambda _, __: self._list()})

    async def _list(self) -> dict[str, Any]:
        number, self.asked = self.asked, self.asked + 1
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await asyncio.sleep(30 if number in self._hang else self._seconds)
        finally:
            self._now -= 1
            self.given_up += number in self._hang
        more = {"resultType": "complete", "ttlMs": 5000, "cacheScope": "public"}
        return {"result": {"tools": [TOOL], **more}}

    @asynccontextmanager
    async def town(self, count: int = MANY) -> AsyncIterator[House]:
        async with self.fake.served() as url:
            servers = [{"slug": f"s{n}", "url": url, "timeout": 2} for n in range(count)]
            async with house(servers) as h:
                # who asks first learns which version each of them speaks; that is not counted
                await h.modern("/mcp", "server/discover")
                yield h


def names(body: Any) -> set[str]:
    return {tool["name"] for tool in body["result"]["tools"]}


def left_out(body: Any) -> list[Any]:
    meta: dict[str, Any] = body["result"].get("_meta", {})
    return list(meta.get("strad/left-out", []))


@pytest.fixture
def nobody_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine each server takes so long that the next ones begin meanwhile."""
    monkeypatch.setattr(pace, "LONG_SECONDS", 60.0)


@pytest.mark.usefixtures("nobody_is_slow")
async def test_so_many_are_asked_at_once_and_all_are_listed() -> None:
    servers = Counting()
    async with servers.town() as h:
        status, body = await h.modern("/mcp", "tools/list")
        assert (status, len(names(body)), left_out(body)) == (200, MANY, [])
        assert 1 < servers.most <= AT_ONCE


async def test_slow_ones_hold_nobody_up_and_have_their_own_time() -> None:
    """More of them hang than are asked at once: the others are listed all the same, in time."""
    hang = tuple(range(AT_ONCE + 10))
    servers = Counting(hang=hang)
    async with servers.town() as h:
        started = time.monotonic()
        task = asyncio.ensure_future(h.modern("/mcp", "tools/list"))
        while servers.asked < MANY:
            # in time: before the first of those that hang has had its two seconds
            assert servers.given_up == 0
            await asyncio.sleep(0.01)
        status, body = await task
        took = time.monotonic() - started
        assert (status, len(names(body))) == (200, MANY - len(hang))
        assert {one["reason"] for one in left_out(body)} == {"upstream-timeout"}
        assert len(left_out(body)) == len(hang)
        # the last of those that hang began later, and had its two seconds
        assert took >= 2 + LONG_SECONDS


async def test_one_slow_server_costs_the_others_nothing() -> None:
    servers = Counting(hang=(0,))
    async with servers.town() as h:
        task = asyncio.ensure_future(h.modern("/mcp", "tools/list"))
        # before the slow one has had its two seconds
        while servers.asked < MANY:
            assert not task.done()
            await asyncio.sleep(0.01)
        status, body = await task
        assert (status, len(names(body)), len(left_out(body))) == (200, MANY - 1, 1)


@pytest.mark.usefixtures("nobody_is_slow")
async def test_the_console_looks_at_so_many_at_once_too() -> None:
    servers = Counting()
    async with servers.town() as h:
        status, body = await h.ask(None)
        assert (status, {one["state"] for one in body["servers"]}) == (200, {"ready"})
        assert 1 < servers.most <= AT_ONCE


def hinting(*hints: Any) -> Fake:
    """A server whose list has a page for each hint of how long it is fresh."""

    def page(message: dict[str, Any]) -> dict[str, Any]:
        at = int(message["params"].get("cursor", 0))
        more = {"nextCursor": str(at + 1)} if at + 1 < len(hints) else {}
        hint = {} if hints[at] is None else {"ttlMs": hints[at]}
        return {"tools": [TOOL | {"name": f"go{at}"}]} | more | hint

    return modern_fake(page)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ((5000,), (9000,), 5000),
        ((5000, 700, 9000), (9000,), 700),
        ((5000,), (0,), 0),
        ((5000,), (-1,), 0),
        ((5000,), ("9000",), 0),
        ((5000,), (True,), 0),
        ((10**9,), (10**9,), MOST_FRESH_MS),
    ],
)
async def test_a_merged_list_is_fresh_for_as_long_as_what_changes_first(
    first: tuple[Any, ...], second: tuple[Any, ...], told: int
) -> None:
    async with hinting(*first).served() as a, hinting(*second).served() as b:
        servers = [{"slug": "a", "url": a}, {"slug": "b", "url": b}]
        async with house(servers) as h:
            _, body = await h.modern("/mcp", "tools/list")
            assert (body["result"]["ttlMs"], body["result"]["cacheScope"]) == (told, "private")


async def test_a_server_that_gives_no_hint_or_no_list_makes_a_list_that_is_not_kept() -> None:
    old = LegacyFake()
    async with hinting(5000).served() as a, old.served() as b:
        servers = [{"slug": "a", "url": a}, {"slug": "b", "url": b}]
        async with house(servers) as h:
            _, body = await h.modern("/mcp", "tools/list")
            assert (len(names(body)), body["result"]["ttlMs"]) == (2, 0)
            # it does not even know that there are prompts: so there is nothing to change soon
            _, body = await h.modern("/mcp?servers=b,a", "prompts/list")
            assert (body["result"]["prompts"], body["result"]["ttlMs"]) == ([], MOST_FRESH_MS)
        dead = [{"slug": "a", "url": a}, {"slug": "b", "url": "http://127.0.0.1:9/mcp"}]
        async with house(dead) as h:
            _, body = await h.modern("/mcp", "tools/list")
            assert (len(left_out(body)), body["result"]["ttlMs"]) == (1, 0)
            caller = await OldCaller.begin(h, "/mcp")
            (answer,) = await caller.ask("tools/list")
            assert len(answer["result"]["tools"]) == 1
