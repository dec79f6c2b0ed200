"""Personal access tokens in both kinds of store."""

import time

import pytest

from shared import keys
from shared.contracts.wire import Service
from shared.ids import new_token
from shared.signing import Seal
from shared.stores.kv import KeyValue, StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from shared.stores.tokens import TokenReader, TokenWriter
from tests.shared.conftest import Clock
from tests.shared.people import ADA, BOB, HOUR, token
from tests.shared.valkey import Valkey

SEAL = Seal([b"s" * 32], b"i" * 32)


async def test_a_token_is_verified_to_its_record(store: KeyValue) -> None:
    record = token(time.time())
    text = await TokenWriter(store, SEAL, time.time).create(record)
    reader = TokenReader(store, SEAL, time.time)
    assert await reader.verify(text) == (reader.digest(text), record)


@pytest.mark.parametrize("text", ["", "x", "strad_pat_", "strad_pat_" + "0" * 49, "Bearer x"])
async def test_what_is_no_token_is_not_even_looked_up(store: KeyValue, text: str) -> None:
    assert await TokenReader(store, SEAL, time.time).verify(text) is None


async def test_a_well_formed_token_that_was_never_given_out_is_none(store: KeyValue) -> None:
    await TokenWriter(store, SEAL, time.time).create(token(time.time()))
    assert await TokenReader(store, SEAL, time.time).verify(new_token()) is None


async def test_a_token_with_one_letter_changed_is_none(store: KeyValue) -> None:
    text = await TokenWriter(store, SEAL, time.time).create(token(time.time()))
    reader = TokenReader(store, SEAL, time.time)
    for at in (0, 10, 30, len(text) - 1):
        other = "A" if text[at] != "A" else "B"
        assert await reader.verify(text[:at] + other + text[at + 1 :]) is None
    for changed in (text.lower(), text + " ", " " + text, text[:-1]):
        assert await reader.verify(changed) is None


async def test_revoking_ends_one_token_of_its_owner_and_nobody_elses(store: KeyValue) -> None:
    writer = TokenWriter(store, SEAL, time.time)
    kept = await writer.create(token(time.time(), "kept"))
    gone = await writer.create(token(time.time(), "gone"))
    assert await writer.revoke(BOB.subject, "gone") is False
    assert await writer.revoke(ADA.subject, "never-was") is False
    assert await writer.revoke(ADA.subject, "gone") is True
    assert await writer.revoke(ADA.subject, "gone") is False
    assert await writer.verify(gone) is None
    assert await writer.verify(kept) is not None


async def test_a_person_sees_their_own_tokens_newest_first(store: KeyValue) -> None:
    writer = TokenWriter(store, SEAL, time.time)
    for number in range(3):
        await writer.create(token(time.time() + number, f"t{number}"))
    await writer.create(token(time.time(), "bobs", BOB))
    assert [one.id for one in (await writer.of(ADA.subject)).values()] == ["t2", "t1", "t0"]
    assert await writer.of("nobody") == {}


async def test_a_token_ends_and_leaves_the_list() -> None:
    clock = Clock()
    store = MemoryKeyValue(clock)
    writer = TokenWriter(store, SEAL, clock)
    text = await writer.create(token(clock(), "short", life=HOUR))
    await writer.create(token(clock(), "long"))
    clock.now += HOUR
    assert await writer.verify(text) is None
    assert [one.id for one in (await writer.of(ADA.subject)).values()] == ["long"]
    assert len(await store.index(keys.TOKENS_OF.key(ADA.subject))) == 1


async def test_a_writer_of_the_store_cannot_mint_a_token() -> None:
    clock = Clock()
    store = MemoryKeyValue(clock)
    writer = TokenWriter(store, SEAL, clock)
    record = token(clock())
    real = keys.TOKEN.key(writer.digest(await writer.create(record)))
    sealed = await store.get(real)
    assert sealed is not None
    chosen = new_token()
    key = keys.TOKEN.key(writer.digest(chosen))
    stranger = Seal([b"x" * 32], b"i" * 32)
    for value in (sealed, stranger.seal(key, record.model_dump(mode="json"), 9**12), b"{}"):
        await store.put(key, value, HOUR)
        assert await writer.verify(chosen) is None


async def test_a_forged_index_reveals_nothing_of_others() -> None:
    """Whoever can write the index can list a digest; the record still tells whose it is."""
    clock = Clock()
    store = MemoryKeyValue(clock)
    writer = TokenWriter(store, SEAL, clock)
    digest = writer.digest(await writer.create(token(clock(), "bobs", BOB)))
    await store.index_add(keys.TOKENS_OF.key(ADA.subject), digest, HOUR)
    assert await writer.of(ADA.subject) == {}
    assert await writer.revoke(ADA.subject, "bobs") is False


async def test_what_a_key_sealed_that_is_still_to_come_here_is_ended_with_the_rest() -> None:
    """While a key is replaced, one replica seals with what another one has not read yet."""
    clock = Clock()
    store = MemoryKeyValue(clock)
    behind = TokenWriter(store, SEAL, clock)
    ahead = TokenWriter(store, Seal([b"n" * 32, b"k" * 32], b"i" * 32), clock)
    text = await ahead.create(token(clock(), "new"))
    assert await ahead.verify(text) is not None
    assert await behind.of(ADA.subject) == {}
    assert [one.id for one in (await ahead.of(ADA.subject)).values()] == ["new"]
    assert await behind.revoke_all(ADA.subject) == 1
    assert await ahead.verify(text) is None


async def test_a_record_of_another_version_is_no_token_and_no_error() -> None:
    clock = Clock()
    store = MemoryKeyValue(clock)
    reader = TokenReader(store, SEAL, clock)
    text = new_token()
    key = keys.TOKEN.key(reader.digest(text))
    await store.put(key, SEAL.seal(key, {"id": "x"}, 9**12), HOUR)
    assert await reader.verify(text) is None


async def test_the_relay_reads_tokens_and_cannot_make_or_revoke_them(server: Valkey) -> None:
    auth, relay = server.connect(Service.AUTH), server.connect(Service.RELAY)
    text = await TokenWriter(auth, SEAL, time.time).create(token(time.time()))
    usurper = TokenWriter(relay, SEAL, time.time)
    assert await usurper.verify(text) is not None
    for attempt in (usurper.create(token(time.time())), usurper.revoke(ADA.subject, "t1")):
        with pytest.raises(StoreUnavailable):
            await attempt
    await auth.close()
    await relay.close()


async def test_apphost_cannot_read_tokens(server: Valkey) -> None:
    auth, apphost = server.connect(Service.AUTH), server.connect(Service.APPHOST)
    text = await TokenWriter(auth, SEAL, time.time).create(token(time.time()))
    with pytest.raises(StoreUnavailable):
        await TokenReader(apphost, SEAL, time.time).verify(text)
    await auth.close()
    await apphost.close()
