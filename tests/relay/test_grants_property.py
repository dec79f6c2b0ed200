"""Whatever happens at the same time, nobody gets what the source did not grant then."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.relay.entitlements import SourceUnavailable, grants
from services.relay.entitlements.epochs import SURE_SECONDS
from shared.contracts.identity import Person
from shared.contracts.problems import Problem
from shared.stores.memory import MemoryKeyValue
from tests.relay.granting import ADA, Town

KEEP, DENIED, GRACE = 5, 2, 7
REPLICAS = 3


class Steps:
    """Lets one thing happen at a time: who waits here goes on when told to."""

    def __init__(self) -> None:
        self.waiting: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        await future

    def go(self, which: int) -> None:
        if self.waiting:
            future = self.waiting.pop(which % len(self.waiting))
            if not future.done():
                future.set_result(None)


class Slow(MemoryKeyValue):
    """A store that takes its time before and after everything that it does."""

    def __init__(self, steps: Steps, clock: Any) -> None:
        super().__init__(clock)
        self._steps = steps

    async def get(self, key: str) -> bytes | None:
        await self._steps.wait()
        value = await super().get(key)
        await self._steps.wait()
        return value

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        await self._steps.wait()
        await super().put(key, value, seconds)

    async def add(self, key: str, value: bytes, seconds: int) -> bool:
        await self._steps.wait()
        return await super().add(key, value, seconds)


@dataclass
class World:
    """The source, what it granted when, and everything that the replicas answered."""

    remote: bool
    steps: Steps = field(default_factory=Steps)
    version: str = "1"
    away: bool = False
    truths: list[tuple[float, frozenset[str]]] = field(default_factory=list)
    words: list[tuple[float, float]] = field(default_factory=list)  # changed at, told by
    answers: list[tuple[float, float, frozenset[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.town = Town(self, keep=KEEP, keep_denied=DENIED, grace=GRACE)
        self.town.store = Slow(self.steps, self.town.clock)
        self.replicas = [self.town.replica() for _ in range(REPLICAS)]
        self.tasks: list[asyncio.Task[None]] = []
        self.change(frozenset("a"))

    async def servers_of(self, person: Person) -> frozenset[str]:
        await self.steps.wait()
        away, truth = self.away, self.truths[-1][1]
        await self.steps.wait()
        if away:
            raise SourceUnavailable
        return truth

    def change(self, servers: frozenset[str]) -> None:
        self.truths.append((self.town.now, servers))

    async def ask(self, replica: int) -> None:
        began = self.town.now
        try:
            grant = await self.replicas[replica][0].of(ADA)
        except Problem:
            return
        self.answers.append((began, self.town.now, grant.servers))

    async def tell(self, replica: int, everybody: bool) -> None:
        changed = self.truths[-1][0]
        await self.replicas[replica][1].void(None if everybody else ADA.email)
        self.words.append((changed, self.town.now))

    def granted_between(self, start: float, end: float) -> frozenset[str]:
        """Everything that the source granted at some moment in between."""
        found: frozenset[str] = frozenset()
        for (at, servers), (until, _) in zip(
            self.truths, [*self.truths[1:], (end + 1, frozenset())], strict=True
        ):
            if at <= end and until > start:
                found |= servers
        return found

    def check(self) -> None:
        for began, ended, servers in self.answers:
            oldest = began - KEEP - GRACE
            for changed, told in self.words:
                if began > told + SURE_SECONDS:
                    oldest = max(oldest, changed)
            assert servers <= self.granted_between(oldest, ended), (began, ended, servers)


ACTS = st.one_of(
    st.tuples(st.just("ask"), st.integers(0, REPLICAS - 1)),
    st.tuples(st.just("go"), st.integers(0, 5)),
    st.tuples(st.just("go"), st.integers(0, 5)),
    st.tuples(st.just("change"), st.sets(st.sampled_from("abc")).map(frozenset)),
    st.tuples(st.just("tell"), st.integers(0, 2 * REPLICAS - 1)),
    st.tuples(st.just("later"), st.sampled_from([0.3, 1.1, 2.5, 6.0])),
    st.tuples(st.just("away"), st.booleans()),
)


async def _play(acts: list[tuple[str, Any]], remote: bool, hears: bool) -> World:
    world = World(remote)
    hearing = [asyncio.create_task(epochs.hear()) for _, epochs in world.replicas[: hears * 2]]
    for act, value in acts:
        if act == "ask":
            world.tasks.append(asyncio.create_task(world.ask(value)))
        elif act == "go":
            world.steps.go(value)
        elif act == "change":
            world.change(value)
        elif act == "tell":
            told = world.tell(value % REPLICAS, value >= REPLICAS)
            world.tasks.append(asyncio.create_task(told))
        elif act == "later":
            world.town.now += value
        else:
            world.away = value
        for _ in range(4):
            await asyncio.sleep(0)
    async with asyncio.timeout(20):
        while not all(task.done() for task in world.tasks):
            world.steps.go(0)
            await asyncio.sleep(0)
    for task in (*world.tasks, *hearing):
        if task.done():
            task.result()
        task.cancel()
    return world


@pytest.mark.parametrize("remote", [False, True])
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts=st.lists(ACTS, min_size=5, max_size=60), hears=st.booleans())
def test_nobody_gets_what_the_source_did_not_grant(
    monkeypatch: pytest.MonkeyPatch, remote: bool, acts: list[tuple[str, Any]], hears: bool
) -> None:
    monkeypatch.setattr(grants, "_LOOK_SECONDS", 0)
    asyncio.run(_play(acts, remote, hears)).check()


@pytest.mark.parametrize("remote", [False, True])
def test_the_play_can_be_lost(monkeypatch: pytest.MonkeyPatch, remote: bool) -> None:
    """What makes it hold is what is tried: without the count an answer from before counts."""
    monkeypatch.setattr(grants, "_LOOK_SECONDS", 0)
    go: list[tuple[str, Any]] = [("go", 0)] * 40
    acts: list[tuple[str, Any]] = [("ask", 0), *go, ("change", frozenset()), ("tell", 1), *go]
    acts += [("later", 1.1), ("ask", 2), *go]
    world = asyncio.run(_play(acts, remote, False))
    world.check()
    assert [servers for _, _, servers in world.answers] == [{"a"}, frozenset()]

    async def blind(*_: Any) -> bool:
        return True

    monkeypatch.setattr("services.relay.entitlements.epochs.Epochs.holds", blind)
    world = asyncio.run(_play(acts, remote, False))
    with pytest.raises(AssertionError):
        world.check()
