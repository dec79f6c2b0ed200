"""Sessions in both kinds of store: who can open one, when it ends, and what a dump is worth."""

import asyncio
import time

import pytest

from shared import keys
from shared.contracts.wire import Service
from shared.ids import new_secret
from shared.keys import ENDED
from shared.signing import Seal
from shared.stores.kv import KeyValue, StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from shared.stores.sessions import SessionReader, SessionSeen, SessionWriter
from tests.shared.conftest import Clock
from tests.shared.people import ADA, BOB, HOUR, session
from tests.shared.valkey import Valkey

SEAL = Seal([b"s" * 32], b"i" * 32)


async def test_a_session_that_began_is_found_by_its_cookie_alone(store: KeyValue) -> None:
    writer = SessionWriter(store, SEAL, time.time)
    one = session(time.time())
    cookie = await writer.begin(one)
    reader = SessionReader(store, SEAL, time.time)
    assert await reader.find(reader.digest(cookie)) == one
    assert await reader.find(reader.digest(new_secret())) is None
    assert reader.digest(cookie) != cookie


async def test_an_ended_session_is_gone_for_everybody_at_once(store: KeyValue) -> None:
    writer = SessionWriter(store, SEAL, time.time)
    digest = writer.digest(await writer.begin(session(time.time())))
    other = writer.digest(await writer.begin(session(time.time())))
    await writer.end(digest)
    await writer.end(digest)
    assert await writer.find(digest) is None
    assert await writer.find(other) is not None
    assert await store.index(keys.SESSIONS_OF.key(ADA.subject)) == {other}


async def test_a_session_sealed_with_a_key_that_is_still_to_come_here_stays_known() -> None:
    clock = Clock()
    store = MemoryKeyValue(clock)
    behind = SessionWriter(store, SEAL, clock)
    ahead = SessionWriter(store, Seal([b"n" * 32, b"k" * 32], b"i" * 32), clock)
    digest = ahead.digest(await ahead.begin(session(clock())))
    assert await behind.of(ADA.subject) == {}
    assert list(await ahead.of(ADA.subject)) == [digest]
    await behind.end_all(ADA.subject)
    assert await ahead.find(digest) is None


async def test_all_sessions_of_one_person_end_and_no_others(store: KeyValue) -> None:
    writer = SessionWriter(store, SEAL, time.time)
    adas = [writer.digest(await writer.begin(session(time.time()))) for _ in range(3)]
    bobs = writer.digest(await writer.begin(session(time.time(), BOB)))
    await writer.end_all(ADA.subject)
    await writer.end_all("nobody")
    assert [await writer.find(digest) for digest in adas] == [None] * 3
    assert await writer.find(bobs) is not None


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept(clock: Clock) -> MemoryKeyValue:
    return MemoryKeyValue(clock)


async def test_use_stretches_the_idle_end_and_never_the_absolute_one(
    kept: MemoryKeyValue, clock: Clock
) -> None:
    writer, seen = SessionWriter(kept, SEAL, clock), SessionSeen(kept, clock)
    one = session(clock(), life=3 * HOUR, idle=HOUR)
    digest = writer.digest(await writer.begin(one))
    for _ in range(5):
        clock.now += HOUR / 2
        assert await writer.find(digest) == one
        await seen.note(digest, one)
    clock.now += HOUR / 2
    assert await writer.find(digest) is None


async def test_a_session_that_nobody_uses_ends(kept: MemoryKeyValue, clock: Clock) -> None:
    writer = SessionWriter(kept, SEAL, clock)
    digest = writer.digest(await writer.begin(session(clock(), idle=HOUR)))
    clock.now += HOUR - 1
    assert await writer.find(digest) is not None
    clock.now += 2
    assert await writer.find(digest) is None


async def test_use_is_written_once_a_minute(kept: MemoryKeyValue, clock: Clock) -> None:
    seen, key = SessionSeen(kept, clock), keys.SESSION_SEEN.key("d")
    one = session(clock())
    await seen.note("d", one)
    first = await kept.get(key)
    clock.now += 59
    await seen.note("d", one)
    assert await kept.get(key) == first
    clock.now += 2
    await seen.note("d", one)
    assert await kept.get(key) == str(int(clock.now)).encode()


@pytest.mark.parametrize("note", [b"99999999999", b"inf", b"nan", b"x", b"", b"\xff", b"-5"])
async def test_a_forged_note_of_use_keeps_no_session_awake(
    kept: MemoryKeyValue, clock: Clock, note: bytes
) -> None:
    writer = SessionWriter(kept, SEAL, clock)
    digest = writer.digest(await writer.begin(session(clock(), idle=HOUR)))
    await kept.put(keys.SESSION_SEEN.key(digest), note, 9 * HOUR)
    assert await writer.find(digest) is not None
    clock.now += HOUR
    assert await writer.find(digest) is None


async def test_a_note_by_a_clock_that_is_a_little_ahead_counts(
    kept: MemoryKeyValue, clock: Clock
) -> None:
    writer = SessionWriter(kept, SEAL, clock)
    digest = writer.digest(await writer.begin(session(clock(), idle=HOUR)))
    clock.now += HOUR - 1
    await kept.put(keys.SESSION_SEEN.key(digest), str(int(clock.now + 30)).encode(), HOUR)
    clock.now += 10
    assert await writer.find(digest) is not None


async def test_a_writer_of_the_store_can_neither_mint_move_stretch_nor_change(
    kept: MemoryKeyValue, clock: Clock
) -> None:
    writer = SessionWriter(kept, SEAL, clock)
    one = session(clock(), life=HOUR, idle=99 * HOUR)
    digest = writer.digest(await writer.begin(one))
    sealed = await kept.get(keys.SESSION.key(digest))
    assert sealed is not None
    target = writer.digest("a cookie of the attacker's choice")
    stranger = Seal([b"x" * 32], b"i" * 32)
    record = one.model_dump(mode="json")
    forged = [
        sealed,  # moved from another key
        stranger.seal(keys.SESSION.key(target), record, one.expires),
        SEAL.seal(keys.TOKEN.key(target), record, one.expires),  # of another family
        b"\x01" + b"\x00" * 60,
        sealed[::-1],
    ]
    for value in forged:
        await kept.put(keys.SESSION.key(target), value, HOUR)
        assert await writer.find(target) is None
    await kept.put(keys.SESSION.key(digest), sealed, 99 * HOUR)  # a longer life in Redis
    clock.now += HOUR
    assert await writer.find(digest) is None


async def test_a_record_of_another_version_is_no_session_and_no_error(
    kept: MemoryKeyValue, clock: Clock
) -> None:
    reader = SessionReader(kept, SEAL, clock)
    for record in ({}, {"kind": "later"}, session(clock()).model_dump(mode="json") | {"new": 1}):
        await kept.put(keys.SESSION.key("d"), SEAL.seal(keys.SESSION.key("d"), record, 9**12), HOUR)
        assert await reader.find("d") is None


async def test_a_dump_of_the_server_holds_no_cookie_and_no_name(server: Valkey) -> None:
    store = server.connect(Service.AUTH)
    writer = SessionWriter(store, SEAL, time.time)
    cookie = await writer.begin(session(time.time()))
    await store.close()
    with server.admin() as admin:
        dump = b"".join(part for key in admin.scan_iter() for part in (key, admin.dump(key) or b""))
    assert writer.digest(cookie).encode() in dump
    for secret in (cookie, ADA.email, ADA.name, "Lovelace"):
        assert secret.encode() not in dump


async def test_other_services_read_sessions_and_cannot_begin_or_end_them(server: Valkey) -> None:
    auth = server.connect(Service.AUTH)
    writer = SessionWriter(auth, SEAL, time.time)
    digest = writer.digest(await writer.begin(session(time.time())))
    for service in (Service.RELAY, Service.APPHOST):
        other = server.connect(service)
        usurper = SessionWriter(other, SEAL, time.time)
        assert await usurper.find(digest) is not None
        for attempt in (usurper.begin(session(time.time())), usurper.end(digest)):
            with pytest.raises(StoreUnavailable):
                await attempt
        await other.close()
    assert await writer.find(digest) is not None
    await auth.close()


async def test_only_of_a_session_that_was_there_anybody_is_told() -> None:
    store = MemoryKeyValue()
    writer = SessionWriter(store, Seal([b"s" * 32], b"i" * 32), time.time)
    heard: list[bytes | None] = []

    async def hear() -> None:
        async for message in store.hear(ENDED.name):
            heard.append(message)

    hearing = asyncio.create_task(hear())
    await asyncio.sleep(0)
    digest = writer.digest(await writer.begin(session(time.time())))
    await writer.end(writer.digest("made up"))
    await writer.end(digest)
    await writer.end(digest)
    await asyncio.sleep(0)
    assert heard == [None, digest.encode()]
    hearing.cancel()
