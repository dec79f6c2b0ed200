"""What the replicas tell each other: heard by all, and nothing on the channel silences one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from services.relay.changes.between import CHANNEL, MISSED, Between
from shared.stores.memory import MemoryKeyValue


@asynccontextmanager
async def _replica(store: MemoryKeyValue) -> AsyncIterator[tuple[Between, list[Any]]]:
    between, heard, ready = Between(store), list[Any](), asyncio.Event()
    between.on("word", heard.append)
    between.on(MISSED, lambda _: ready.set())
    task = asyncio.create_task(between.run())
    await ready.wait()
    yield between, heard
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_a_word_is_done_once_here_and_at_every_other_replica() -> None:
    store = MemoryKeyValue()
    async with _replica(store) as (one, here), _replica(store) as (_, there):
        await one.tell("word", n=1)
        assert here == [{"n": 1}]  # at once
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            while not there:
                await asyncio.sleep(0.01)
        assert (here, there) == ([{"n": 1}], [{"n": 1}])


async def test_every_replica_hears_all_words_in_one_order_its_own_among_them() -> None:
    store, orders = MemoryKeyValue(), (list[Any](), list[Any]())
    async with _replica(store) as (one, _), _replica(store) as (two, _):
        one.on("word", lambda what: None, back=orders[0].append)
        two.on("word", orders[1].append, back=orders[1].append)
        one.on("other", lambda what: None)
        two.on("other", orders[1].append)
        for n in range(6):
            await (one, two)[n % 2].tell("word", n=n)
        await one.tell("other", n=6)
        async with asyncio.timeout(5):
            while len(orders[1]) < 7:
                await asyncio.sleep(0.01)
    # what was done at once here is not done again
    assert [one["n"] for one in orders[0]] == [0, 2, 4]
    assert [one["n"] for one in orders[1]] == [1, 3, 5, 0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"7", b"{}", b'{"by":"x"}', b'{"by":"x","kind":"new","what":{}}', b"\xff"],
)
async def test_what_cannot_be_understood_silences_nobody(raw: bytes) -> None:
    store = MemoryKeyValue()
    async with _replica(store) as (one, _), _replica(store) as (_, there):
        await store.publish(CHANNEL, raw)
        await one.tell("word", n=1)
        async with asyncio.timeout(5):
            while not there:
                await asyncio.sleep(0.01)
        assert there == [{"n": 1}]
