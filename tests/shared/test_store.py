"""One suite for every `KeyValue`: in memory, and on a real Valkey as auth's own user."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared import keys
from shared.contracts.wire import Service
from shared.stores.kv import KeyValue, StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.shared.conftest import Stand
from tests.shared.valkey import Valkey, valkey

KEY, OTHER = keys.SESSION.key("one"), keys.SESSION.key("two")
SET = keys.SESSIONS_OF.key("ada")
RANKED = keys.MCP_SESSIONS_OF.key("ada")
ALL_BYTES = bytes(range(256))


async def test_what_was_put_is_there_and_nothing_else(store: KeyValue) -> None:
    assert await store.get(KEY) is None
    await store.put(KEY, b"value", 60)
    assert await store.get(KEY) == b"value"
    assert await store.get(OTHER) is None


@pytest.mark.parametrize("value", [b"", b"\x00", ALL_BYTES, b"x" * 1_000_000, "ü".encode()])
async def test_any_bytes_come_back_as_they_were(store: KeyValue, value: bytes) -> None:
    await store.put(KEY, value, 60)
    assert await store.get(KEY) == value


async def test_putting_again_replaces_value_and_end(stand: Stand) -> None:
    await stand.store.put(KEY, b"old", 1)
    await stand.store.put(KEY, b"new", 60)
    stand.later(1.2)
    assert await stand.store.get(KEY) == b"new"


async def test_a_value_ends_on_time(stand: Stand) -> None:
    await stand.store.put(KEY, b"value", 1)
    await stand.store.index_add(SET, "member", 1)
    stand.later(1.2)
    assert await stand.store.get(KEY) is None
    assert await stand.store.get_many([KEY]) == [None]
    assert await stand.store.index(SET) == set()


async def test_many_come_in_the_order_of_their_keys(store: KeyValue) -> None:
    await store.put(OTHER, b"2", 60)
    await store.put(KEY, b"1", 60)
    absent = keys.SESSION.key("absent")
    assert await store.get_many([OTHER, absent, KEY, OTHER]) == [b"2", None, b"1", b"2"]
    assert await store.get_many([]) == []


async def test_adding_keeps_what_is_there(store: KeyValue) -> None:
    assert await store.add(KEY, b"first", 60) is True
    assert await store.add(KEY, b"second", 60) is False
    assert await store.get(KEY) == b"first"


async def test_adding_is_possible_again_after_the_end(stand: Stand) -> None:
    await stand.store.add(KEY, b"first", 1)
    stand.later(1.2)
    assert await stand.store.add(KEY, b"second", 60) is True


async def test_of_fifty_who_add_one_succeeds(store: KeyValue) -> None:
    answers = await asyncio.gather(*(store.add(KEY, b"x", 60) for _ in range(50)))
    assert sum(answers) == 1


async def test_only_what_is_there_is_replaced(stand: Stand) -> None:
    store = stand.store
    assert await store.replace(KEY, b"new", 60) is False
    assert await store.get(KEY) is None
    await store.put(KEY, b"old", 1)
    assert await store.replace(KEY, b"new", 60) is True
    stand.later(1.2)
    assert await store.get(KEY) == b"new"


async def test_counting_begins_with_one_and_ends_when_the_first_said(stand: Stand) -> None:
    assert [await stand.store.count(KEY, 1), await stand.store.count(KEY, 60)] == [1, 2]
    assert await stand.store.count(OTHER, 60) == 1
    assert await stand.store.get(KEY) == b"2"
    stand.later(1.2)
    assert await stand.store.count(KEY, 60) == 1
    await stand.store.remove(KEY)
    assert await stand.store.count(KEY, 60) == 1


async def test_one_look_reads_and_counts(store: KeyValue) -> None:
    one, other = keys.SESSION.key("count-one"), keys.SESSION.key("count-other")
    await store.put(KEY, b"1", 60)
    await store.count(other, 60)
    absent = keys.SESSION.key("absent")
    assert await store.look([absent, KEY], [one, other], [one], 60) == ([None, b"1"], [1, 2])
    assert await store.look([KEY], [], [], 60) == ([b"1"], [])
    assert await store.look([], [one], [], 60) == ([], [2])


async def test_fifty_who_count_at_once_get_fifty_numbers(store: KeyValue) -> None:
    counted = await asyncio.gather(*(store.count(KEY, 60) for _ in range(50)))
    assert sorted(counted) == list(range(1, 51))


async def test_a_count_that_lost_its_end_gets_one(server: Valkey) -> None:
    store = server.connect(Service.AUTH)
    with server.admin() as admin:
        admin.set(KEY, "3")
        assert await store.count(KEY, 60) == 4
        assert 0 < admin.ttl(KEY) <= 60
    await store.close()


async def test_removing_takes_values_and_sets_and_minds_nothing_absent(store: KeyValue) -> None:
    await store.put(KEY, b"1", 60)
    await store.index_add(SET, "member", 60)
    await store.remove(KEY, SET, OTHER)
    await store.remove()
    assert await store.get(KEY) is None
    assert await store.index(SET) == set()


async def test_a_set_holds_each_member_once(store: KeyValue) -> None:
    for member in ("a", "b", "a"):
        await store.index_add(SET, member, 60)
    assert await store.index(SET) == {"a", "b"}
    await store.index_remove(SET, "a")
    await store.index_remove(SET, "never was")
    assert await store.index(SET) == {"b"}
    await store.index_remove(SET, "b")
    assert await store.index(SET) == set()
    await store.index_remove(SET, "b")


async def test_the_set_that_is_returned_is_the_callers_own(store: KeyValue) -> None:
    await store.index_add(SET, "a", 60)
    (await store.index(SET)).add("planted")
    assert await store.index(SET) == {"a"}


async def test_a_later_member_with_a_shorter_life_does_not_shorten_the_set(stand: Stand) -> None:
    await stand.store.index_add(SET, "long", 60)
    await stand.store.index_add(SET, "short", 1)
    stand.later(1.2)
    assert await stand.store.index(SET) == {"long", "short"}


async def test_a_later_member_with_a_longer_life_stretches_the_set(stand: Stand) -> None:
    await stand.store.index_add(SET, "short", 1)
    await stand.store.index_add(SET, "long", 60)
    stand.later(1.2)
    assert await stand.store.index(SET) == {"long", "short"}


async def test_a_set_that_ended_starts_empty(stand: Stand) -> None:
    await stand.store.index_add(SET, "old", 1)
    stand.later(1.2)
    await stand.store.index_add(SET, "new", 60)
    assert await stand.store.index(SET) == {"new"}


@pytest.mark.parametrize("kind", ["memory", "valkey"])
async def test_of_members_the_longest_unused_is_one_too_many(
    kind: str, request: pytest.FixtureRequest
) -> None:
    store: KeyValue = MemoryKeyValue()
    if kind == "valkey":
        server: Valkey = request.getfixturevalue("server")
        with server.admin() as admin:
            admin.flushall()
        store = server.connect(Service.RELAY)
    for now, member in enumerate(("a", "b", "c")):
        assert await store.used(RANKED, member, 1000.0 + now, 100, 3) == []
    assert await store.used(RANKED, "a", 1003, 100, 3) == []  # used again, and now the newest
    assert await store.used(RANKED, "d", 1004, 100, 3) == ["b"]
    await store.unused(RANKED, "c")
    await store.unused(RANKED, "absent")
    assert await store.used(RANKED, "e", 1005, 100, 3) == []
    assert await store.used(RANKED, "f", 1006, 100, 2) == ["a", "d"]
    # those that were not used for so long do not count, and nobody ends them
    assert await store.used(RANKED, "g", 1106.5, 100, 1) == []
    await store.close()


async def test_ping_returns(store: KeyValue) -> None:
    await store.ping()


EVERY_CALL: dict[str, Callable[[KeyValue], Any]] = {
    "get": lambda store: store.get(KEY),
    "get_many": lambda store: store.get_many([KEY, OTHER]),
    "put": lambda store: store.put(KEY, b"x", 60),
    "add": lambda store: store.add(KEY, b"x", 60),
    "replace": lambda store: store.replace(KEY, b"x", 60),
    "count": lambda store: store.count(keys.SESSION.key("count"), 60),
    "look": lambda store: store.look([KEY], [keys.SESSION.key("count")], [], 60),
    "remove": lambda store: store.remove(KEY),
    "index_add": lambda store: store.index_add(SET, "a", 60),
    "index_remove": lambda store: store.index_remove(SET, "a"),
    "index": lambda store: store.index(SET),
    "used": lambda store: store.used(RANKED, "a", 1.0, 60, 5),
    "unused": lambda store: store.unused(RANKED, "a"),
    "append": lambda store: store.append(keys.AUDIT.key, [b"x"], 1000),
    "trim": lambda store: store.trim(keys.AUDIT.key, 0),
    "entries": lambda store: store.entries(keys.AUDIT.key, "0-0", 10),
    "ping": lambda store: store.ping(),
    "publish": lambda store: store.publish("nobody", b"x"),
}


def test_every_method_is_among_those_calls() -> None:
    methods = {name for name in vars(KeyValue) if not name.startswith("_")}
    assert methods == EVERY_CALL.keys() | {"close", "hear"}


@pytest.mark.parametrize("call", EVERY_CALL)
async def test_a_wrong_password_is_unavailable_and_never_absent(server: Valkey, call: str) -> None:
    store = server.connect(Service.AUTH, "wrong")
    with pytest.raises(StoreUnavailable):
        await EVERY_CALL[call](store)
    await store.close()


async def test_a_server_that_hangs_dies_or_is_gone_is_unavailable_in_time(tmp_path: Path) -> None:
    with valkey(tmp_path) as server:
        store = server.connect(Service.AUTH)
        await store.put(keys.TOKEN.key("kept"), b"value", 60)
        os.kill(server.process.pid, signal.SIGSTOP)
        started = time.monotonic()
        calls = [call(store) for call in EVERY_CALL.values()]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(answer) for answer in answers} == {StoreUnavailable}
        assert time.monotonic() - started < 10
        os.kill(server.process.pid, signal.SIGCONT)
        assert await store.get(keys.TOKEN.key("kept")) == b"value"  # it came back by itself
        server.process.kill()
        server.process.wait()
        for call in EVERY_CALL.values():
            with pytest.raises(StoreUnavailable):
                await call(store)
        await store.close()
