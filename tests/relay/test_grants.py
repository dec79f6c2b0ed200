"""Entitlements: cached for seconds, sealed, and never more than the source says."""

from typing import Any

import pytest

from services.relay.entitlements.grants import Grants
from shared import keys
from shared.contracts.identity import Person
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue

ADA = Person(issuer="i", sub="ada", email="ada@strad.test", name="Ada")
BOB = Person(issuer="i", sub="bob", email="bob@strad.test", name="Bob")
KEY = keys.GRANT.key(ADA.subject)


class Source:
    """Says what it is told to, and counts."""

    def __init__(self, *servers: str) -> None:
        self.servers = frozenset(servers)
        self.asked = 0

    async def servers_of(self, person: Person) -> frozenset[str]:
        self.asked += 1
        return self.servers if person.email == ADA.email else frozenset()


def _grants(source: Any, store: MemoryKeyValue, now: list[float], key: bytes = b"g" * 32) -> Grants:
    return Grants(source, store, Seal([key], b"i" * 32), lambda: now[0], 5)


async def test_a_grant_is_asked_once_in_its_time_and_an_empty_one_too() -> None:
    now, source = [1000.0], Source("a")
    store = MemoryKeyValue(lambda: now[0])
    grants = _grants(source, store, now)
    for _ in range(3):
        assert (await grants.of(ADA)).servers == {"a"}
        assert (await grants.of(BOB)).servers == frozenset()
    assert source.asked == 2
    source.servers = frozenset()
    now[0] += 5
    assert (await grants.of(ADA)).servers == frozenset()
    assert source.asked == 3


async def test_another_replica_sees_the_same_grant() -> None:
    now, source = [1000.0], Source("a")
    store = MemoryKeyValue(lambda: now[0])
    await _grants(source, store, now).of(ADA)
    assert (await _grants(source, store, now).of(ADA)).servers == {"a"}
    assert source.asked == 1


async def test_a_writer_to_the_store_can_make_move_and_stretch_nothing() -> None:
    now, source = [1000.0], Source("a")
    store = MemoryKeyValue(lambda: now[0])
    grants = _grants(source, store, now)
    await grants.of(ADA)
    sealed = await store.get(KEY)
    assert sealed is not None
    assert b"ada@" not in sealed

    await store.put(keys.GRANT.key(BOB.subject), sealed, 100)
    assert (await grants.of(BOB)).servers == frozenset()

    source.servers = frozenset()
    forged = Seal([b"s" * 32], b"i" * 32).seal(KEY, {"email": ADA.email, "servers": ["a"]}, 9e9)
    for value in (forged, b"", b"a", sealed[:-1]):
        await store.put(KEY, value, 100)
        assert (await grants.of(ADA)).servers == frozenset()

    await store.put(KEY, sealed, 1000)
    now[0] += 6
    assert (await grants.of(ADA)).servers == frozenset()


async def test_a_new_address_is_asked_about_anew() -> None:
    now, source = [1000.0], Source("a")
    store = MemoryKeyValue(lambda: now[0])
    grants = _grants(source, store, now)
    assert (await grants.of(ADA)).servers == {"a"}
    moved = ADA.model_copy(update={"email": "ada@elsewhere.test"})
    assert moved.subject == ADA.subject
    assert (await grants.of(moved)).servers == frozenset()


async def test_a_source_that_cannot_be_asked_is_not_an_empty_grant() -> None:
    class Broken(Source):
        async def servers_of(self, person: Person) -> frozenset[str]:
            raise Problem(ProblemKind.STORE_UNAVAILABLE, "gone")

    now = [1000.0]
    store = MemoryKeyValue(lambda: now[0])
    with pytest.raises(Problem):
        await _grants(Broken(), store, now).of(ADA)
    assert await store.get(KEY) is None


async def test_a_store_that_is_away_allows_nothing() -> None:
    class Away(MemoryKeyValue):
        async def get(self, key: str) -> bytes | None:
            raise StoreUnavailable("gone")

    with pytest.raises(StoreUnavailable):
        await _grants(Source("a"), Away(), [1000.0]).of(ADA)
