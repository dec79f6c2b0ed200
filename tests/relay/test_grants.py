"""Entitlements: cached for seconds, sealed, and never more than the source says."""

import asyncio
import contextlib

import pytest

from services.relay.entitlements import SourceAway, SourceRefused, SourceUnavailable
from shared import keys
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.relay.granting import ADA, BOB, Source, Town

KEY = keys.GRANT.key(ADA.subject)


async def test_a_grant_is_asked_once_in_its_time_and_an_empty_one_too() -> None:
    source = Source("a")
    town = Town(source)
    grants = town.grants()
    for _ in range(3):
        assert (await grants.of(ADA)).servers == {"a"}
        assert (await grants.of(BOB)).servers == frozenset()
    assert source.asked == 2
    source.servers = frozenset()
    town.now += 5
    assert (await grants.of(ADA)).servers == frozenset()
    assert source.asked == 3


async def test_a_no_is_asked_again_sooner_than_a_yes() -> None:
    source = Source()
    town = Town(source)
    grants = town.grants()
    assert (await grants.of(ADA)).servers == frozenset()
    source.servers = frozenset({"a"})
    town.now += 1.9
    assert (await grants.of(ADA)).servers == frozenset()
    town.now += 0.2
    assert (await grants.of(ADA)).servers == {"a"}
    town.now += 2.1
    assert (await grants.of(ADA, "a")).servers == {"a"}
    assert source.asked == 2
    source.servers = frozenset({"a", "b"})
    assert (await grants.of(ADA, "b")).servers == {"a", "b"}
    town.now += 1
    assert (await grants.of(ADA, "never")).servers == {"a", "b"}
    assert source.asked == 3


async def test_another_replica_sees_the_same_grant() -> None:
    source = Source("a")
    town = Town(source)
    await town.grants().of(ADA)
    assert (await town.grants().of(ADA)).servers == {"a"}
    assert source.asked == 1


async def test_a_writer_to_the_store_can_make_move_and_stretch_nothing() -> None:
    source = Source("a")
    town = Town(source)
    grants, store = town.grants(), town.store
    await grants.of(ADA)
    sealed = await store.get(KEY)
    assert sealed is not None
    assert b"ada@" not in sealed

    await store.put(keys.GRANT.key(BOB.subject), sealed, 100)
    assert (await grants.of(BOB)).servers == frozenset()

    source.servers = frozenset()
    record = {"email": ADA.email, "servers": ["a"], "version": "1", "epoch": 0, "asked": town.now}
    forged = Seal([b"s" * 32], b"i" * 32).seal(KEY, record, 9e9)
    for value in (forged, b"", b"a", sealed[:-1]):
        await store.put(KEY, value, 100)
        assert (await grants.of(ADA)).servers == frozenset()

    await store.put(KEY, sealed, 1000)
    town.now += 6
    assert (await grants.of(ADA)).servers == frozenset()


async def test_a_new_address_is_asked_about_anew() -> None:
    grants = Town(Source("a")).grants()
    assert (await grants.of(ADA)).servers == {"a"}
    moved = ADA.model_copy(update={"email": "ada@elsewhere.test"})
    assert moved.subject == ADA.subject
    assert (await grants.of(moved)).servers == frozenset()


@pytest.mark.parametrize("error", [SourceUnavailable, SourceAway, SourceRefused])
async def test_a_source_that_gives_no_answer_is_not_an_empty_grant(error: type[Exception]) -> None:
    source = Source("a")
    source.broken = error("it hangs")
    town = Town(source)
    with pytest.raises(Problem) as caught:
        await town.grants().of(ADA)
    assert caught.value.kind is ProblemKind.ENTITLEMENTS_UNAVAILABLE
    assert await town.store.get(KEY) is None


async def test_a_store_that_is_away_allows_nothing() -> None:
    class Away(MemoryKeyValue):
        async def get(self, key: str) -> bytes | None:
            raise StoreUnavailable("gone")

    grants, _ = Town(Source("a")).replica(Away())
    with pytest.raises(StoreUnavailable):
        await grants.of(ADA)


async def test_without_grace_an_answer_ends_on_time_though_its_source_is_away() -> None:
    source = Source("a")
    town = Town(source)
    grants = town.grants()
    await grants.of(ADA)
    source.broken = SourceAway()
    town.now += 4.9
    assert (await grants.of(ADA)).servers == {"a"}
    town.now += 0.2
    with pytest.raises(Problem):
        await grants.of(ADA)


async def test_grace_is_for_a_source_that_is_away_and_has_an_end() -> None:
    source = Source("a")
    town = Town(source, grace=30)
    grants = town.grants()
    await grants.of(ADA)
    source.broken = SourceUnavailable("it hangs")
    town.now += 34.9
    assert (await grants.of(ADA)).servers == {"a"}
    town.now += 0.2
    with pytest.raises(Problem):
        await grants.of(ADA)


async def test_there_is_no_grace_once_the_source_has_said_no() -> None:
    source = Source("a")
    town = Town(source, grace=30)
    grants = town.grants()
    await grants.of(ADA)
    source.servers = frozenset()
    town.now += 5.1
    assert (await grants.of(ADA)).servers == frozenset()
    source.broken = SourceAway()
    for _ in range(20):
        town.now += 2.1
        with contextlib.suppress(Problem):
            assert (await grants.of(ADA)).servers == frozenset()


@pytest.mark.parametrize("how", ["refused", "told"])
async def test_there_is_no_grace_for_a_refusal_or_after_a_word(how: str) -> None:
    source = Source("a")
    town = Town(source, grace=30)
    grants, epochs = town.replica()
    await grants.of(ADA)
    town.now += 5.1
    if how == "refused":
        source.broken = SourceRefused("401")
    else:
        source.broken = SourceAway()
        await epochs.void(ADA.email)
    with pytest.raises(Problem):
        await grants.of(ADA)


async def test_one_asks_and_all_others_of_all_replicas_wait() -> None:
    source = Source("a")
    source.hold = asyncio.Event()
    town = Town(source)
    replicas = [town.grants() for _ in range(3)]
    waiting = [asyncio.create_task(one.of(ADA)) for one in replicas * 10]
    await source.entered.wait()
    await asyncio.sleep(0.2)
    assert source.asked == 1
    source.hold.set()
    async with asyncio.timeout(2):
        answers = await asyncio.gather(*waiting)
    assert {answer.servers for answer in answers} == {frozenset({"a"})}
    assert source.asked == 1


async def test_who_asks_and_dies_holds_up_nobody_for_long() -> None:
    source = Source("a")
    town = Town(source)
    await town.store.add(keys.GRANT_ASKED.key(ADA.subject), b"1", 12)
    waiting = asyncio.create_task(town.grants().of(ADA))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    town.now += 13
    async with asyncio.timeout(2):
        assert (await waiting).servers == {"a"}


async def test_who_hangs_up_takes_the_answer_from_nobody() -> None:
    source = Source("a")
    source.hold = asyncio.Event()
    grants = Town(source).grants()
    first = asyncio.create_task(grants.of(ADA))
    await source.entered.wait()
    second = asyncio.create_task(grants.of(ADA))
    await asyncio.sleep(0)
    first.cancel()
    source.hold.set()
    assert (await second).servers == {"a"}
    assert source.asked == 1


async def test_a_source_out_of_reach_is_tried_once_a_second_and_not_by_everybody() -> None:
    source = Source("a")
    source.broken = SourceAway()
    town = Town(source)
    grants = town.grants()
    for person in (ADA, BOB, ADA, BOB):
        with pytest.raises(Problem):
            await grants.of(person)
    assert source.asked == 1
    town.now += 1.1
    source.broken = None
    assert (await grants.of(ADA)).servers == {"a"}


async def test_one_persons_trouble_with_the_source_is_nobody_elses() -> None:
    for error in (SourceUnavailable("500"), SourceRefused("400")):
        source = Source("a")
        source.broken = error
        grants = Town(source).grants()
        with pytest.raises(Problem):
            await grants.of(BOB)
        source.broken = None
        assert (await grants.of(ADA)).servers == {"a"}


async def test_a_no_that_could_not_be_kept_leaves_no_grace_for_the_yes_before() -> None:
    class Full(MemoryKeyValue):
        full = False

        async def put(self, key: str, value: bytes, seconds: int) -> None:
            if self.full and key == KEY:
                raise StoreUnavailable("no memory")
            await super().put(key, value, seconds)

    source = Source("a")
    town = Town(source, grace=30)
    store = town.store = Full(town.clock)
    grants = town.grants()
    await grants.of(ADA)
    town.now += 5.1
    source.servers, store.full = frozenset(), True
    with pytest.raises(StoreUnavailable):
        await grants.of(ADA)
    source.broken, store.full = SourceAway(), False
    with pytest.raises(Problem):
        await grants.of(ADA)
