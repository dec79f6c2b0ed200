"""A page cannot call its server without measure, from however many tabs and replicas."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from services.apphost.limits import A_MINUTE, AT_ONCE, Limits
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import Service
from shared.signing import Seal
from shared.stores.kv import KeyValue, StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.apphost.console import CHARLES, Console
from tests.shared.valkey import valkey

CALL = {"name": "plain", "arguments": {}, "page": "ui://t/page", "surface": "app"}
SEAL = Seal([b"s" * 32], b"i" * 32)
SLUGS = ["toys", "other"]
ME, SLUG = "d" * 43, "toys"


class Clock:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", "valkey"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KeyValue]:
    """In memory, and on a real server as apphost's own user."""
    if request.param == "memory":
        yield MemoryKeyValue()
        return
    with valkey(tmp_path) as server:
        connected = server.connect(Service.APPHOST)
        yield connected
        await connected.close()


async def fill(stack: AsyncExitStack, limits: Limits, count: int, session: str = ME) -> None:
    for _ in range(count):
        await stack.enter_async_context(limits.one(session, SLUG, 60))


async def refused(limits: Limits, session: str = ME, slug: str = SLUG) -> str | None:
    """The reason for which one more call is refused, if it is."""
    try:
        async with limits.one(session, slug, 60):
            return None
    except Problem as problem:
        return problem.reason if problem.kind is ProblemKind.TOO_MANY_REQUESTS else str(problem)


async def test_so_many_calls_run_at_once_and_no_more(store: KeyValue) -> None:
    here, replica = (Limits(SLUGS, store, SEAL, Clock()) for _ in range(2))
    async with AsyncExitStack() as running:
        await fill(running, here, AT_ONCE)
        assert await refused(here) == "at-once"
        assert await refused(replica) == "at-once"
        assert await refused(here, session="e" * 43) is None
        assert await refused(here, slug="other") is None
    assert await refused(here) is None


async def test_of_many_at_the_same_moment_exactly_so_many_run(store: KeyValue) -> None:
    limits, all_in = Limits(SLUGS, store, SEAL, Clock()), asyncio.Event()

    async def one() -> bool:
        try:
            async with limits.one(ME, SLUG, 60):
                await all_in.wait()
                return True
        except Problem:
            return False

    tasks = [asyncio.create_task(one()) for _ in range(3 * AT_ONCE)]
    while sum(task.done() for task in tasks) < 2 * AT_ONCE:
        await asyncio.sleep(0.01)
    all_in.set()
    assert sum(await asyncio.gather(*tasks)) == AT_ONCE


async def test_so_many_calls_a_minute_and_no_more(store: KeyValue) -> None:
    limits = Limits(SLUGS, store, SEAL, Clock())
    answers = [await refused(limits) for _ in range(A_MINUTE + 5)]
    assert answers == [None] * A_MINUTE + ["a-minute"] * 5
    assert await refused(limits, session="e" * 43) is None


async def test_a_minute_later_there_is_room_again() -> None:
    clock = Clock()
    limits = Limits(SLUGS, MemoryKeyValue(clock), SEAL, clock)
    for _ in range(A_MINUTE + 1):
        last = await refused(limits)
    assert last == "a-minute"
    clock.now += 61
    assert await refused(limits) is None


async def test_the_places_of_a_process_that_died_are_free_again_in_time() -> None:
    clock = Clock()
    limits = Limits(SLUGS, MemoryKeyValue(clock), SEAL, clock)
    lost = AsyncExitStack()
    await fill(lost, limits, AT_ONCE)
    clock.now += 59
    assert await refused(limits) == "at-once"
    clock.now += 2
    assert await refused(limits) is None
    await lost.aclose()


async def test_a_call_at_work_keeps_its_place() -> None:
    clock = Clock()
    limits = Limits(SLUGS, MemoryKeyValue(clock), SEAL, clock)
    async with AsyncExitStack() as running:
        await fill(running, limits, AT_ONCE - 1)
        renew = await running.enter_async_context(limits.one(ME, SLUG, 60))
        for _ in range(4):
            clock.now += 16
            await renew()
        # the others have lost theirs meanwhile, this one has not
        await fill(running, limits, AT_ONCE - 1)
        assert await refused(limits) == "at-once"


async def test_a_call_that_is_cancelled_or_fails_gives_its_place_back(store: KeyValue) -> None:
    limits = Limits(SLUGS, store, SEAL, Clock())

    async def wait() -> None:
        async with limits.one(ME, SLUG, 60):
            await asyncio.sleep(30)

    tasks = [asyncio.create_task(wait()) for _ in range(AT_ONCE)]
    await asyncio.sleep(0.3)
    assert await refused(limits) == "at-once"
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    with pytest.raises(ZeroDivisionError):
        async with limits.one(ME, SLUG, 60):
            raise ZeroDivisionError
    async with AsyncExitStack() as running:
        await fill(running, limits, AT_ONCE)


async def test_a_store_that_goes_away_costs_no_call_that_runs() -> None:
    class Leaving(MemoryKeyValue):
        gone = False

        async def put(self, key: str, value: bytes, seconds: int) -> None:
            if self.gone:
                raise StoreUnavailable
            await super().put(key, value, seconds)

        async def remove(self, *keys: str) -> None:
            raise StoreUnavailable

    clock = Clock()
    store = Leaving(clock)
    limits = Limits(SLUGS, store, SEAL, clock)
    async with limits.one(ME, SLUG, 60) as renew:
        store.gone = True
        clock.now += 30
        await renew()
    with pytest.raises(StoreUnavailable):  # but none begins
        await refused(limits)


async def test_the_route_refuses_what_is_too_much_and_asks_nobody(
    console: Console, ada: str
) -> None:
    console.relay.hold = asyncio.Event()
    tasks = [asyncio.create_task(console.call(ada, CALL)) for _ in range(AT_ONCE)]
    while len(console.relay.calls()) < AT_ONCE:
        await asyncio.sleep(0.01)
    answer = await console.call(ada, CALL)
    problem = json.loads(answer.text)
    assert (answer.status, problem["type"]) == (429, "urn:strad:problem:too-many-requests")
    assert f"At most {AT_ONCE} requests at once" in problem["detail"]
    assert len(console.relay.calls()) == AT_ONCE
    headers = {"Origin": console.url, "Content-Type": "application/json"}
    read = await console.send("POST", "/apps/toys/tools/list", ada, headers, {})
    assert read.status == 429  # what a page reads counts as well
    other = asyncio.create_task(console.call(await console.sign_in(), CALL))
    while len(console.relay.calls()) < AT_ONCE + 1:
        await asyncio.sleep(0.01)
    console.relay.hold.set()
    assert {reply.status for reply in await asyncio.gather(*tasks, other)} == {200}
    assert (await console.call(ada, CALL)).status == 200


async def test_what_is_not_there_is_counted_as_one_and_looks_the_same(
    console: Console, charles: str
) -> None:
    for number in range(40):
        assert (await console.call(charles, CALL, slug=f"no-{number}")).status == 404
    assert (await console.call(await console.sign_in(CHARLES), CALL)).status == 404
    for path in ("tools/list", "resources/list"):
        headers = {"Origin": console.url, "Content-Type": "application/json"}
        assert (await console.send("POST", f"/apps/no/{path}", charles, headers, {})).status == 404
    kept = [key for key in console.store._values if key.startswith("frame:")]
    assert len(kept) == 2  # a minute's count of what is not there, and of `toys`
