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
