"""What a stream is open for can end: then it ends too, at once, on every replica."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from services.relay.changes import alive
from services.relay.changes.alive import Alive, Watch
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.relay.house import House, house
from tests.relay.twins import twin
from tests.relay.upstreams import sdk_app, served, toy_server

ADA = Principal(person=House.person("ada"), digest="d1", session_kind=None)
BOB = Principal(person=House.person("bob"), digest="d2", session_kind=None)
OVER = Problem(ProblemKind.FORBIDDEN, "Over.")


class Right:
    """Holds until it is told not to, and counts how often it was looked at."""

    def __init__(self) -> None:
        self.ended: Exception | None = None
        self.asked = 0

    async def check(self, _: str | None = None) -> None:
        self.asked += 1
        if self.ended is not None:
            raise self.ended


@asynccontextmanager
async def open_stream(h: House, url: str) -> AsyncIterator[aiohttp.StreamReader]:
    """The stream that a server keeps open for a session, through the relay at this address."""
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    headers = await h.bearer() | {
        "Accept": "application/json, text/event-stream",
        "Host": h.url.removeprefix("http://"),
    }
    async with h.http.post(url + "/mcp/a", json=begin, headers=headers) as response:
        headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
    async with h.http.get(url + "/mcp/a", headers=headers) as response:
        assert response.content_type == "text/event-stream"
        yield response.content


async def test_a_token_revoked_ends_its_streams_on_every_replica_within_a_second() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "a", "url": url}]) as h,
        twin(h) as other,
        open_stream(h, h.url) as here,
        open_stream(h, other) as there,
    ):
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        async with asyncio.timeout(1):
            await asyncio.gather(here.read(), there.read())


async def test_without_a_word_of_it_a_stream_ends_at_the_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Mute(MemoryKeyValue):
        async def publish(self, channel: str, message: bytes) -> None:
            pass

    monkeypatch.setattr(alive, "RECHECK_SECONDS", 0.3)
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "a", "url": url}], store=Mute()) as h,
        open_stream(h, h.url) as stream,
    ):
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        async with asyncio.timeout(2):
            await stream.read()


async def _held(watch: Watch, right: Right, principal: Principal) -> Any:
    async with Alive(watch, principal, right.check, 0).hold():
        await asyncio.sleep(60)


async def test_only_those_streams_are_looked_at_that_a_word_is_about() -> None:
    watch, rights = Watch(), [Right(), Right()]
    tasks = [
        asyncio.create_task(_held(watch, right, who))
        for right, who in zip(rights, (ADA, BOB), strict=True)
    ]
    await asyncio.sleep(0)
    assert len(watch) == 2
    for concerns in (lambda p: p == ADA, lambda p: p.digest == "d1", lambda p: False, None):
        watch.look(concerns)
        await asyncio.sleep(0.01)
    assert [right.asked for right in rights] == [3, 1]
    rights[0].ended = OVER
    watch.look(lambda p: p == ADA)
    async with asyncio.timeout(1):
        with pytest.raises(Problem, match="Over"):
            await tasks[0]
    assert not tasks[1].done()
    tasks[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[1]
    assert len(watch) == 0


async def test_doubt_ends_a_stream() -> None:
    watch, right = Watch(), Right()
    right.ended = RuntimeError("a mistake in the check")
    task = asyncio.create_task(_held(watch, right, ADA))
    await asyncio.sleep(0)
    watch.look()
    async with asyncio.timeout(1):
        with pytest.raises(Problem) as caught:
            await task
    assert caught.value.kind is ProblemKind.INTERNAL


async def test_while_the_store_is_away_nothing_ends_and_nothing_lasts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(alive, "DOUBT_SECONDS", 0.4)
    monkeypatch.setattr(alive, "_AGAIN_SECONDS", 0.1)
    watch, rights = Watch(), [Right() for _ in range(40)]
    tasks = [asyncio.create_task(_held(watch, right, ADA)) for right in rights]
    await asyncio.sleep(0)
    for right in rights:
        right.ended = StoreUnavailable("away")
    watch.look()
    await asyncio.sleep(0.15)
    assert not any(task.done() for task in tasks)
    # it is back, and one of them has ended meanwhile
    for right in rights[1:]:
        right.ended = None
    rights[0].ended = OVER
    async with asyncio.timeout(1):
        with pytest.raises(Problem, match="Over"):
            await tasks[0]
    assert not any(task.done() for task in tasks[1:])
    for right in rights:
        right.ended = StoreUnavailable("away")
    watch.look()
    async with asyncio.timeout(2):
        found = await asyncio.gather(*tasks[1:], return_exceptions=True)
    assert {one.kind for one in found if isinstance(one, Problem)} == {
        ProblemKind.STORE_UNAVAILABLE
    }


async def test_a_time_limit_within_a_stream_stays_a_time_limit() -> None:
    async with Alive(Watch(), ADA, Right().check, 0).hold():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await asyncio.sleep(1)
    with pytest.raises(TimeoutError):
        async with Alive(Watch(), ADA, Right().check, 0).hold():
            raise TimeoutError


async def test_a_thousand_streams_are_looked_at_well_within_a_second() -> None:
    async with house([]) as h:
        watch, rights = Watch(), [Right() for _ in range(1000)]
        store = h.store

        def check(right: Right) -> Any:
            async def read(_: str | None) -> None:
                await store.get("x")
                await right.check()

            return read

        async def one(right: Right) -> None:
            async with Alive(watch, ADA, check(right), 0).hold():
                await asyncio.sleep(60)

        tasks = [asyncio.create_task(one(right)) for right in rights]
        await asyncio.sleep(0)
        for right in rights:
            right.ended = OVER
        watch.look()
        async with asyncio.timeout(1):
            done = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(one, Problem) for one in done)
        assert len(watch) == 0


async def test_one_person_has_so_many_open_and_others_are_not_held_up() -> None:
    watch, right = Watch(each=2), Right()
    async with Alive(watch, ADA, right.check, 0).hold():
        async with Alive(watch, ADA, right.check, 0).hold():
            with pytest.raises(Problem) as caught:
                async with Alive(watch, ADA, right.check, 0).hold():
                    pass
            assert (caught.value.status, caught.value.reason) == (429, "too-many-open")
            async with Alive(watch, BOB, right.check, 0).hold():
                pass
        async with Alive(watch, ADA, right.check, 0).hold():
            pass


async def test_a_stream_too_many_is_refused_by_name() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "a", "url": url}], limits={"open": 2}) as h,
        open_stream(h, h.url),
        open_stream(h, h.url),
    ):
        params = {"notifications": {"toolsListChanged": True}}
        status, body = await h.modern("/mcp/a", "subscriptions/listen", params)
        assert (status, body["error"]["data"]["kind"]) == (429, "too-many-requests")
