"""What is published is heard by all who listen, and a break is told."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.contracts.wire import Service
from shared.keys import BETWEEN_RELAYS
from shared.stores.kv import KeyValue
from shared.stores.memory import MemoryKeyValue
from tests.shared.valkey import Valkey, valkey

CHANNEL = BETWEEN_RELAYS.name


class Ear:
    """Someone who listens."""

    def __init__(self, store: KeyValue) -> None:
        self.heard: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._run(store))

    async def _run(self, store: KeyValue) -> None:
        async with contextlib.aclosing(store.hear(CHANNEL)) as messages:
            async for message in messages:
                self.heard.put_nowait(message)

    async def next(self, seconds: float = 5) -> bytes | None:
        async with asyncio.timeout(seconds):
            return await self.heard.get()

    async def close(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task


@pytest.fixture(params=["memory", "valkey"])
async def shared_store(request: pytest.FixtureRequest) -> AsyncIterator[KeyValue]:
    """A store as the relay sees it."""
    if request.param == "memory":
        yield MemoryKeyValue()
        return
    server: Valkey = request.getfixturevalue("server")
    store = server.connect(Service.RELAY)
    yield store
    await store.close()


async def test_all_who_listen_hear_every_message_once_and_in_order(shared_store: KeyValue) -> None:
    ears = [Ear(shared_store) for _ in range(3)]
    for ear in ears:
        assert await ear.next() is None
    sent = [b"", bytes(range(256)), *(str(number).encode() for number in range(100))]
    for message in sent:
        await shared_store.publish(CHANNEL, message)
    for ear in ears:
        assert [await ear.next() for _ in sent] == sent
        assert ear.heard.empty()
        await ear.close()


async def test_who_has_left_is_not_spoken_to_and_nobody_need_listen(shared_store: KeyValue) -> None:
    await shared_store.publish(CHANNEL, b"to nobody")
    ear = Ear(shared_store)
    assert await ear.next() is None
    await ear.close()
    await shared_store.publish(CHANNEL, b"to nobody")
    assert ear.heard.empty()


async def test_whoever_listens_is_told_of_a_break_and_hears_again(tmp_path: Path) -> None:
    with valkey(tmp_path) as server:
        store = server.connect(Service.RELAY)
        ear = Ear(store)
        assert await ear.next() is None
        with server.admin() as admin:
            admin.client_kill_filter(_type="pubsub")
        assert await ear.next() is None
        await store.publish(CHANNEL, b"again")
        assert await ear.next() == b"again"
        await ear.close()
        await store.close()


async def test_a_store_that_is_away_is_waited_for(tmp_path: Path) -> None:
    with valkey(tmp_path) as server:
        store = server.connect(Service.RELAY)
        server.process.kill()
        server.process.wait()
        ear = Ear(store)
        with pytest.raises(TimeoutError):
            await ear.next(1.0)
        await ear.close()
        await store.close()
