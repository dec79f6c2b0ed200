"""What runs for ever goes on after a mistake, and ends when it is told to, whatever goes wrong."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.exceptions import TimeoutError as RedisTimeout

from shared import always as module
from shared.always import always
from shared.stores.redis import RedisKeyValue


async def test_a_mistake_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AGAIN_SECONDS", 0)
    runs, third = 0, asyncio.Event()

    async def run() -> None:
        nonlocal runs
        runs += 1
        if runs == 3:
            third.set()
            await asyncio.sleep(60)
        raise ValueError("a mistake")

    task = asyncio.create_task(always(run))
    async with asyncio.timeout(2):
        await third.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_on_its_way_out_does_not_begin_it_again() -> None:
    runs, begun = 0, asyncio.Event()

    async def run() -> None:
        nonlocal runs
        runs += 1
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            raise ConnectionError("while closing")

    task = asyncio.create_task(always(run))
    await begun.wait()
    task.cancel()
    async with asyncio.timeout(2):
        await asyncio.wait([task])
    assert runs == 1


class Clinging:
    """A client whose connection cannot be closed in time, as when its machine is gone."""

    def __init__(self) -> None:
        self.hearing = asyncio.Event()
        self.opened = 0

    @asynccontextmanager
    async def pubsub(self) -> AsyncIterator["Clinging"]:
        self.opened += 1
        try:
            yield self
        finally:
            raise RedisTimeout("closing took too long")

    async def subscribe(self, _: str) -> None:
        pass

    async def get_message(self, timeout: float) -> None:
        self.hearing.set()
        await asyncio.sleep(60)


async def test_who_hears_stops_hearing_though_the_connection_does_not_close() -> None:
    client: Any = Clinging()
    store = RedisKeyValue(client, None)

    async def hear() -> None:
        async for _ in store.hear("x"):
            pass

    task = asyncio.create_task(hear())
    await client.hearing.wait()
    task.cancel()
    async with asyncio.timeout(2):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert client.opened == 1
