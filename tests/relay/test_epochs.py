"""A word that something changed: after it no older answer counts, on any replica."""

import asyncio
from typing import Any

import pytest

from services.relay.entitlements.epochs import SURE_SECONDS
from shared import keys
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.relay.granting import ADA, BOB, Source, Town

NOTHING: frozenset[str] = frozenset()


async def test_a_word_about_a_person_holds_on_every_replica_at_once() -> None:
    source = Source("a")
    town = Town(source)
    (here, epochs), (there, others) = town.replica(), town.replica()
    hearing = asyncio.create_task(others.hear())
    for grants in (here, there):
        assert (await grants.of(ADA)).servers == {"a"}
        await grants.of(BOB)
    assert source.asked == 2
    source.servers = NOTHING
    await epochs.void("Ada@Strad.test")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    for grants in (here, there):
        assert (await grants.of(ADA)).servers == NOTHING
        await grants.of(BOB)
    assert source.asked == 3
    hearing.cancel()


async def test_a_word_that_nobody_heard_holds_within_a_second() -> None:
    class Mute(MemoryKeyValue):
        async def publish(self, channel: str, message: bytes) -> None:
            raise StoreUnavailable("gone")

    source = Source("a")
    town = Town(source)
    town.store = Mute(town.clock)
    (here, epochs), (there, others) = town.replica(), town.replica()
    told: list[str | None] = []
    others.heard = told.append
    for grants in (here, there):
        assert (await grants.of(ADA)).servers == {"a"}
    source.servers = NOTHING
    await epochs.void(ADA.email)
    assert (await here.of(ADA)).servers == NOTHING
    town.now += SURE_SECONDS + 0.01
    assert (await there.of(ADA)).servers == NOTHING
    assert told == [None]


@pytest.mark.parametrize("whom", [ADA.email, None])
async def test_an_answer_from_before_the_word_does_not_count_whoever_gives_it(whom: Any) -> None:
    """It was asked for before, and is stored after."""
    source = Source("a")
    source.hold = asyncio.Event()
    town = Town(source)
    (slow, _), (here, epochs) = town.replica(), town.replica()
    late = asyncio.create_task(slow.of(ADA))
    await source.entered.wait()
    source.servers = NOTHING
    await epochs.void(whom)
    town.now += SURE_SECONDS + 0.01
    source.hold.set()
    assert (await late).servers == NOTHING
    assert (await here.of(ADA)).servers == NOTHING


async def test_a_source_that_is_replaced_counts_at_once_and_its_last_answers_do_not() -> None:
    source, new = Source("a"), Source("b")
    new.version = "2"
    source.hold = asyncio.Event()
    grants = Town(source).grants()
    late = asyncio.create_task(grants.of(ADA))
    await source.entered.wait()
    grants.source = new
    source.hold.set()
    assert (await late).servers == {"b"}
    assert (await grants.of(ADA)).servers == {"b"}


async def test_a_new_replica_believes_nothing_from_before_the_last_word() -> None:
    source = Source("a")
    town = Town(source)
    here, epochs = town.replica()
    await here.of(ADA)
    sealed = await town.store.get(keys.GRANT.key(ADA.subject))
    assert sealed is not None
    source.servers = NOTHING
    await epochs.void(ADA.email)
    await town.store.put(keys.GRANT.key(ADA.subject), sealed, 5)
    assert (await town.grants().of(ADA)).servers == NOTHING


@pytest.mark.parametrize("value", [None, b"0", b"-5", b"7", b"", b"x", b"\xff"])
async def test_a_count_that_is_lost_or_overwritten_lets_nothing_older_count(value: Any) -> None:
    source = Source("a")
    town = Town(source)
    grants, epochs = town.replica()
    await epochs.void(None)
    await epochs.void(None)
    await grants.of(ADA)
    source.servers = NOTHING
    key = keys.GRANT.key("epoch")
    await (town.store.remove(key) if value is None else town.store.put(key, value, 100))
    town.now += SURE_SECONDS + 0.01
    assert (await grants.of(ADA)).servers == NOTHING


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"count":"x","who":1}',
        b'{"count":null,"who":null}',
        b'{"count":Infinity,"who":null}',
    ],
)
async def test_what_is_no_word_is_heard_and_forgotten(message: bytes) -> None:
    source = Source("a")
    town = Town(source)
    (grants, epochs), (_, speaker) = town.replica(), town.replica()
    await grants.of(ADA)
    hearing = asyncio.create_task(epochs.hear())
    await asyncio.sleep(0)
    await town.store.publish(keys.GRANTS_CHANGED.name, message)
    source.servers = NOTHING
    await speaker.void(ADA.email)
    await asyncio.sleep(0.01)
    assert not hearing.done()
    assert (await grants.of(ADA)).servers == NOTHING
    hearing.cancel()


async def test_a_forged_word_only_makes_somebody_ask_again() -> None:
    source = Source("a")
    town = Town(source)
    grants, epochs = town.replica()
    await grants.of(ADA)
    hearing = asyncio.create_task(epochs.hear())
    await asyncio.sleep(0)
    await town.store.publish(keys.GRANTS_CHANGED.name, b'{"count": 999999, "who": null}')
    await asyncio.sleep(0.01)
    assert (await grants.of(ADA)).servers == {"a"}
    assert (await grants.of(ADA)).servers == {"a"}
    assert source.asked <= 3
    hearing.cancel()


class Late(MemoryKeyValue):
    """Its answers to one question come late: `meanwhile` happens before they arrive."""

    def __init__(self, clock: Any) -> None:
        super().__init__(clock)
        self.meanwhile: Any = None

    async def get(self, key: str) -> bytes | None:
        value = await super().get(key)
        if self.meanwhile is not None and key == keys.GRANT.key("epoch"):
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return value


async def test_a_count_is_as_old_as_the_question_for_it() -> None:
    town = Town(Source("a"))
    store = town.store = Late(town.clock)
    (_, epochs), (_, others) = town.replica(), town.replica()

    async def meanwhile() -> None:
        await others.void(ADA.email)
        town.now += 0.9 * SURE_SECONDS

    store.meanwhile = meanwhile
    await epochs.now()
    town.now += 0.2 * SURE_SECONDS
    assert not await epochs.holds(ADA.email, 0)


async def test_a_count_that_comes_after_a_newer_word_takes_nothing_back() -> None:
    town = Town(Source("a"))
    store = town.store = Late(town.clock)
    (_, epochs), (_, others) = town.replica(), town.replica()
    await others.void(BOB.email)
    await epochs.now()
    hearing = asyncio.create_task(epochs.hear())
    await asyncio.sleep(0)

    async def meanwhile() -> None:
        await others.void(ADA.email)
        await asyncio.sleep(0.01)

    store.meanwhile = meanwhile
    await epochs.now()
    assert not await epochs.holds(ADA.email, 1)
    assert await epochs.holds(BOB.email, 1)
    hearing.cancel()
