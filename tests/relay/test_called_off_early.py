"""A request and the word that calls it off travel on two connections: the word may come first.

Whichever replica each arrives at, the request is not made, or ends; and no other one does.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from services.relay.callers import running
from services.relay.callers.running import CalledOff, Running
from services.relay.changes import stream_first
from services.relay.changes.between import Between
from services.relay.handlers import through
from shared.stores.memory import MemoryKeyValue
from tests.relay.house import house
from tests.relay.old_caller import OldCaller
from tests.relay.test_cancel import SOON
from tests.relay.test_progress import DONE, fake
from tests.relay.twins import two_before
from tests.relay.upstreams import Fake, LegacyFake

BOTH = {"people": ["ada@strad.test", "bob@strad.test"]}
NEVER = 60.0
VIEWS = [
    pytest.param("legacy", "/mcp/a", "go", id="passed on"),
    pytest.param("modern", "/mcp/a", "go", id="answered by the relay"),
    pytest.param("legacy", "/mcp", "a__go", id="merged"),
]
views = pytest.mark.parametrize(("era", "path", "tool"), VIEWS)
elsewhere = pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "at another replica"])


class At:
    """A server at work, for as long as a test wants."""

    def __init__(self, era: str, *, works: bool = False) -> None:
        self.begun = 0
        self.go_on = asyncio.Event()
        if not works:
            self.go_on.set()
        self.server: Fake = fake(era, self._work)

    async def _work(self, token: Any, send: Any) -> None:
        self.begun += 1
        await self.go_on.wait()


class Hears(LegacyFake):
    """A server whose calls end when it is told to. It takes its time to see them."""

    def __init__(self, sees_after: float = 0.0) -> None:
        super().__init__()
        self._sees_after = sees_after
        self.at_work: dict[Any, asyncio.Event] = {}

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        if message.get("method") == "tools/call":
            return self._called(message["id"])
        if message.get("method") == running.METHOD:
            ended = self.at_work.get(message["params"]["requestId"])
            if ended is not None:
                ended.set()
        return super()._reply(request, message)

    async def _called(self, request_id: Any) -> Any:
        await asyncio.sleep(self._sees_after)
        await self.at_work.setdefault(request_id, asyncio.Event()).wait()
        del self.at_work[request_id]
        return {"result": DONE}


async def _call(caller: OldCaller, tool: str, request_id: Any) -> list[Any]:
    """The answers to a call: one, or none."""
    said = await caller.ask("tools/call", request_id, name=tool, arguments={})
    return [one for one in said if "method" not in one]


async def _off(caller: OldCaller, request_id: Any, at: str = "") -> None:
    one = OldCaller(caller.h, caller.path, caller.session, at or caller.at, caller.name)
    assert await one.tell(running.METHOD, requestId=request_id) == 202


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not true():
            await asyncio.sleep(0.005)


@views
@elsewhere
@pytest.mark.parametrize(
    "request_id", ["mine", 7, "x" * 256, -(2**255)], ids=lambda one: str(one)[:5]
)
async def test_a_request_that_was_called_off_before_it_came_is_not_made(
    era: str, path: str, tool: str, elsewhere: bool, request_id: Any
) -> None:
    at = At(era)
    async with two_before(at.server) as (h, other):
        caller = await OldCaller.begin(h, path)
        await _off(caller, request_id, other if elsewhere else h.url)
        assert await _call(caller, tool, request_id) == []
        assert at.begun == 0
        # said once: a client that counts anew has its answer
        assert len(await _call(caller, tool, request_id)) == 1
        assert at.begun == 1


@views
async def test_nobody_elses_request_and_no_other_is_called_off_before_it_came(
    era: str, path: str, tool: str
) -> None:
    at = At(era)
    async with at.server.served() as url, house([{"slug": "a", "url": url, "access": BOTH}]) as h:
        ada, again = await OldCaller.begin(h, path), await OldCaller.begin(h, path)
        bob = await OldCaller.begin(h, path, name="bob")
        stranger = OldCaller(h, path, ada.session, h.url, "bob")
        assert await stranger.tell(running.METHOD, requestId=1) == 404
        for wrong in ("1", 2, True, None, {"x": 1}, 1.0):
            await ada.tell(running.METHOD, requestId=wrong)
        await _off(again, 1)
        for caller in (ada, bob):
            assert len(await _call(caller, tool, 1)) == 1
        assert at.begun == 2


@views
async def test_what_was_called_off_long_ago_comes_again_and_is_answered(
    era: str, path: str, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "EARLY_SECONDS", 0.05)
    at = At(era)
    async with at.server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, path)
        await _off(caller, 1)
        await asyncio.sleep(0.06)
        assert len(await _call(caller, tool, 1)) == 1


@views
async def test_a_word_that_found_its_request_is_not_kept_and_one_after_its_end_is(
    era: str, path: str, tool: str
) -> None:
    at = At(era, works=True)
    async with at.server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, path)
        task = asyncio.create_task(_call(caller, tool, 1))
        await _until(lambda: at.begun == 1)
        await _off(caller, 1)  # found here: so it is not on its way
        at.go_on.set()
        await asyncio.wait_for(task, 5)
        assert len(await _call(caller, tool, 1)) == 1
        await _off(caller, 1)  # and now it is not here any more
        assert await _call(caller, tool, 1) == []


@views
async def test_what_is_kept_of_words_without_requests_is_bounded(
    era: str, path: str, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_MOST_EARLY", 3)
    at = At(era)
    async with at.server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, path)
        for request_id in (1, 2, 1, 3, 4, "x" * 257, 2**256):
            await _off(caller, request_id)
        # the oldest goes, and what nobody would keep in mind is not kept
        for request_id in (2, "x" * 257, 2**256):
            assert len(await _call(caller, tool, request_id)) == 1
        for request_id in (1, 3, 4):
            assert await _call(caller, tool, request_id) == []


@elsewhere
async def test_a_call_that_waits_for_its_turn_is_called_off_and_never_made(elsewhere: bool) -> None:
    at = At("legacy", works=True)
    async with two_before(at.server, at_once=2, timeout=20) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        first = asyncio.create_task(_call(caller, "go", 1))
        await _until(lambda: at.begun == 1)
        second = asyncio.create_task(_call(caller, "go", 2))
        third = asyncio.create_task(_call(caller, "go", 3))
        await asyncio.sleep(0.1)
        await _off(caller, 2, other if elsewhere else h.url)
        assert await asyncio.wait_for(second, SOON) == []
        at.go_on.set()
        assert len(await first) == 1
        assert len(await third) == 1
        assert at.begun == 2


@elsewhere
async def test_a_call_that_waits_for_its_sessions_stream_is_called_off_and_never_made(
    elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_first, "WAIT_SECONDS", NEVER)
    at = At("legacy")
    async with two_before(at.server) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        task = asyncio.create_task(_call(caller, "go", 1))
        await asyncio.sleep(0.1)
        await _off(caller, 1, other if elsewhere else h.url)
        assert await asyncio.wait_for(task, SOON) == []
        assert at.begun == 0


@elsewhere
async def test_a_call_that_is_at_its_server_is_the_servers_to_end(elsewhere: bool) -> None:
    at = At("legacy", works=True)
    async with two_before(at.server, timeout=20) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        task = asyncio.create_task(_call(caller, "go", 1))
        await _until(lambda: at.begun == 1)
        await _off(caller, 1, other if elsewhere else h.url)
        assert at.server.methods.count(running.METHOD) == 1
        at.go_on.set()  # it may finish, and say so
        assert len(await asyncio.wait_for(task, 5)) == 1


async def test_the_word_does_not_overtake_a_call_on_its_way_to_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(through, "HEAD_START_SECONDS", 0.2)
    server = Hears(sees_after=0.1)
    async with two_before(server, timeout=20) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        task = asyncio.create_task(_call(caller, "go", 1))
        await _until(lambda: "tools/call" in server.methods)
        await _off(caller, 1, other)
        await asyncio.wait_for(task, 5)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_call_and_its_word_at_once_never_miss_each_other(era: str) -> None:
    hears, at = Hears(), At("modern", works=True)
    server = hears if era == "legacy" else at.server
    async with two_before(server, timeout=60) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        for number in range(1, 41):
            caller.at, elsewhere = (h.url, other) if number % 2 else (other, h.url)
            call = asyncio.create_task(_call(caller, "go", number))
            await asyncio.sleep(0.0005 * (number % 5))
            async with asyncio.timeout(5):
                await _off(caller, number, elsewhere)
                await call


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("hangs_up", [False, True])
async def test_a_word_that_comes_twice_is_one_and_who_hangs_up_besides_has_left(
    words: int, hangs_up: bool
) -> None:
    requests, waits = Running(Between(MemoryKeyValue())), asyncio.Event()

    async def passes() -> None:
        with requests.passing("session", 1):
            waits.set()
            await asyncio.sleep(NEVER)

    task = asyncio.create_task(passes())
    await waits.wait()
    for _ in range(words):
        await requests.call_off("session", {"params": {"requestId": 1}})
    if hangs_up:
        task.cancel()
    with pytest.raises(asyncio.CancelledError if hangs_up else CalledOff):
        await task


async def test_of_two_requests_with_one_id_the_end_of_the_first_leaves_the_second() -> None:
    requests, first_goes = Running(Between(MemoryKeyValue())), asyncio.Event()

    async def passes(until: asyncio.Event) -> None:
        with requests.passing("session", 1):
            await until.wait()

    first = asyncio.create_task(passes(first_goes))
    await asyncio.sleep(0)
    second = asyncio.create_task(passes(asyncio.Event()))
    await asyncio.sleep(0)
    first_goes.set()
    await first
    await requests.call_off("session", {"params": {"requestId": 1}})
    with pytest.raises(CalledOff):
        await asyncio.wait_for(second, 5)
