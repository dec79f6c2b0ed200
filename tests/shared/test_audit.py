"""The audit trail: what is appended when, how long it lasts, and what a store that fails does."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from shared import keys
from shared.contracts.audit import AuditRules, Entry, Event
from shared.contracts.wire import Service
from shared.keys import AUDITOR
from shared.signing import Seal
from shared.stores import audit
from shared.stores.audit import Trail, TrailReader
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.shared.conftest import Clock
from tests.shared.valkey import Valkey

SEAL = Seal([b"a" * 32], b"a" * 32)
RULES = AuditRules()


def entry(name: str = "one") -> Entry:
    return Entry({"event": Event.REQUEST, "id": name, "time": time.time()}, {"server": "wiki"})


async def told(store: Any, clock: Any = time.time) -> list[dict[str, Any]]:
    return [record async for record in TrailReader(store, SEAL, clock).entries(0)]


class Failing(MemoryKeyValue):
    """A store that can be taken away, and counts what it is asked to append."""

    away = False
    asked = 0

    async def append(self, key: str, values: Sequence[bytes], most: int) -> None:
        self.asked += 1
        if self.away:
            raise StoreUnavailable("away")
        await super().append(key, values, most)


@pytest.fixture
async def store() -> Failing:
    return Failing()


@pytest.fixture
async def trail(store: Failing) -> AsyncIterator[Trail]:
    made = Trail(store, SEAL, time.time, RULES)
    yield made
    await made.close()


async def eventually(store: Failing, count: int) -> list[dict[str, Any]]:
    async with asyncio.timeout(5):
        while len(await told(store)) < count:
            await asyncio.sleep(0.01)
    return await told(store)


async def test_what_takes_effect_after_it_stands_in_the_trail_before(
    trail: Trail, store: Failing
) -> None:
    await trail.now(entry())
    assert [record["id"] for record in await told(store)] == ["one"]


async def test_a_denial_that_cannot_be_written_is_an_error_and_not_lost_silently(
    trail: Trail, store: Failing
) -> None:
    store.away = True
    with pytest.raises(StoreUnavailable):
        await trail.now(entry())


async def test_many_that_end_at_once_are_appended_together_and_once_each(
    trail: Trail, store: Failing
) -> None:
    for number in range(50):
        one = entry(str(number))
        trail.soon(one)
        one.kept["status"] = 200
        trail.end(one)
    found = await eventually(store, 50)
    assert [record["id"] for record in found] == [str(number) for number in range(50)]
    assert all(record["status"] == 200 and "running" not in record for record in found)
    assert store.asked == 1


async def test_a_long_request_stands_in_the_trail_while_it_runs_and_once_more_at_its_end(
    trail: Trail, store: Failing
) -> None:
    one = entry()
    trail.soon(one)
    assert [record["running"] for record in await eventually(store, 1)] == [True]
    one.kept["status"] = 200
    trail.end(one)
    last = (await eventually(store, 2))[-1]
    assert (last["id"], last["status"], "running" in last) == ("one", 200, False)


async def test_a_request_that_has_just_begun_when_others_are_written_is_told_once(
    trail: Trail, store: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "BATCH_SECONDS", 1.0)
    monkeypatch.setattr(audit, "_YOUNG_SECONDS", 30.0)  # however busy the machine is
    long, quick = entry("long"), entry("quick")
    trail.soon(long)
    long.since -= 60
    trail.soon(quick)
    assert [record["id"] for record in await eventually(store, 1)] == ["long"]
    trail.end(quick)
    found = [(record["id"], "running" in record) for record in await eventually(store, 2)]
    assert found == [("long", True), ("quick", False)]


async def test_one_that_was_not_written_with_the_others_waits_no_longer_than_they_do(
    trail: Trail, store: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "BATCH_SECONDS", 1.0)
    monkeypatch.setattr(audit, "_YOUNG_SECONDS", 0.9)
    first, second = entry("first"), entry("second")
    trail.soon(first)
    first.since -= 0.5
    trail.soon(second)
    assert [record["id"] for record in await eventually(store, 1)] == ["first"]
    async with asyncio.timeout(0.9):
        found = await eventually(store, 2)
    assert [(record["id"], record["running"]) for record in found] == [
        ("first", True),
        ("second", True),
    ]


async def test_what_begins_in_the_trail_is_told_there_and_once_more_at_its_end(
    trail: Trail, store: Failing
) -> None:
    for fast in (True, False):
        one = entry()
        trail.soon(one)
        await trail.begin(one)
        first = (await told(store))[-1]
        assert (first["id"], first["running"]) == ("one", True)
        if not fast:
            await asyncio.sleep(2 * audit.BATCH_SECONDS)
        trail.end(one)
        await eventually(store, 2)
        assert ["running" in record for record in await told(store)] == [True, False]
        await store.trim(keys.AUDIT.key, time.time() + 1)


async def test_a_request_that_is_denied_meanwhile_is_told_once(
    trail: Trail, store: Failing
) -> None:
    one = entry()
    trail.soon(one)
    one.logged["decision"] = "denied"
    await trail.now(one)
    trail.end(one)
    await trail.close()
    assert [record["decision"] for record in await told(store)] == ["denied"]


async def test_what_a_store_does_not_take_waits_for_it_to_come_back(
    trail: Trail, store: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "_AGAIN_SECONDS", 0.01)
    store.away = True
    for number in range(3):
        trail.soon(entry(str(number)))
    async with asyncio.timeout(5):
        while store.asked < 3:
            await asyncio.sleep(0.01)
    store.away = False
    found = await eventually(store, 3)
    assert [record["id"] for record in found] == ["0", "1", "2"]


async def test_an_entry_that_cannot_be_written_takes_no_other_with_it(
    trail: Trail, store: Failing, caplog: pytest.LogCaptureFixture
) -> None:
    class Unwritable:
        def __str__(self) -> str:
            raise MemoryError

    broken = entry("broken")
    broken.logged["arguments"] = Unwritable()
    for one in (entry("before"), broken, entry("after")):
        trail.soon(one)
        trail.end(one)
    found = await eventually(store, 2)
    assert [record["id"] for record in found] == ["before", "after"]
    assert [record.getMessage() for record in caplog.records] == ["audit-entry-lost"]
    trail.soon(entry("later"))
    assert [record["id"] for record in await eventually(store, 3)][2:] == ["later"]


async def test_nothing_begins_while_the_trail_is_full(
    trail: Trail, store: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "ROOM_SECONDS", 0.05)
    monkeypatch.setattr(audit, "_AGAIN_SECONDS", 0.01)
    store.away = True
    for number in range(audit.MOST_WAITING):
        await trail.room()
        trail.soon(entry(str(number)))
    with pytest.raises(StoreUnavailable):
        await trail.room()
    store.away = False
    async with asyncio.timeout(5):
        await eventually(store, audit.MOST_WAITING)
        await trail.room()


async def test_the_end_of_a_process_writes_what_waits(trail: Trail, store: Failing) -> None:
    trail.soon(entry())
    await trail.close()
    assert [record["id"] for record in await told(store)] == ["one"]


async def test_an_entry_past_its_time_is_gone_and_does_not_open_in_a_copy() -> None:
    clock = Clock()
    kept = MemoryKeyValue(clock)
    trail = Trail(kept, SEAL, clock, AuditRules(keep=60))
    await trail.now(entry("old"))
    copied = {key: list(stream) for key, stream in kept._streams.items()}
    clock.now += 61
    trail.soon(entry("new"))
    await trail.close()
    assert [record["id"] for record in await told(kept, clock)] == ["new"]
    kept._streams = copied
    reader = TrailReader(kept, SEAL, clock)
    assert [record async for record in reader.entries(0)] == []
    assert reader.unreadable == 1


async def test_a_trail_holds_so_many_entries_and_the_newest() -> None:
    kept = MemoryKeyValue()
    trail = Trail(kept, SEAL, time.time, AuditRules(most=1000))
    for number in range(1200):
        trail.soon(entry(str(number)))
    await trail.close()
    assert [record["id"] for record in await told(kept)] == [str(n) for n in range(200, 1200)]


async def test_an_entry_that_somebody_else_wrote_is_counted_and_not_shown() -> None:
    kept = MemoryKeyValue()
    await Trail(kept, SEAL, time.time, RULES).now(entry())
    forged = Seal([b"x" * 32], b"x" * 32).seal(keys.AUDIT.key, {"id": "forged"}, time.time() + 60)
    moved = SEAL.seal("another:key", {"id": "moved"}, time.time() + 60)
    await kept.append(keys.AUDIT.key, [forged, moved, b"noise"], 1000)
    reader = TrailReader(kept, SEAL, time.time)
    assert [record["id"] async for record in reader.entries(0)] == ["one"]
    assert reader.unreadable == 3


async def test_a_real_server_takes_the_entries_of_both_and_shows_them_to_the_auditor(
    server: Valkey,
) -> None:
    with server.admin() as admin:
        admin.flushall()
    reading = server.connect(AUDITOR)
    since = time.time() - 5
    for service in (Service.AUTH, Service.RELAY):
        store = server.connect(service)
        trail = Trail(store, SEAL, time.time, RULES)
        for number in range(600):  # more than a page of the reader
            trail.soon(entry(f"{service}-{number}"))
        await trail.close()
        with pytest.raises(StoreUnavailable):
            await told(store)
        await store.close()
    found = [record async for record in TrailReader(reading, SEAL, time.time).entries(since)]
    assert [record["id"] for record in found] == [
        f"{service}-{n}" for service in ("auth", "relay") for n in range(600)
    ]
    later = TrailReader(reading, SEAL, time.time).entries(time.time() + 60)
    assert [record async for record in later] == []
    await reading.close()


async def test_a_real_server_keeps_about_as_many_as_it_is_told(server: Valkey) -> None:
    with server.admin() as admin:
        admin.flushall()
        store = server.connect(Service.RELAY)
        for _ in range(5):
            await store.append(keys.AUDIT.key, [b"x"] * 1000, 1000)
        assert 1000 <= admin.xlen(keys.AUDIT.key) < 1200
        await store.trim(keys.AUDIT.key, time.time() + 1)
        assert admin.xlen(keys.AUDIT.key) == 0
        await store.close()


async def test_a_dump_of_the_trail_names_nobody(server: Valkey) -> None:
    store = server.connect(Service.RELAY)
    one = entry()
    one.kept["email"] = "ada@strad.test"
    one.logged["subject"], one.logged["tool"] = "subject-of-ada", "approve"
    await Trail(store, SEAL, time.time, RULES).now(one)
    with server.admin() as admin:
        raw = repr(admin.xrange(keys.AUDIT.key))
    assert not any(word in raw for word in ("ada", "wiki", "approve"))
    await store.close()
