"""The pipe to a real Redis that is slow, silent, or dies in the middle of an answer.

Nobody waits for longer than he would alone, nobody gets another's answer, and the next one is
answered.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from shared.stores.kv import StoreUnavailable
from shared.stores.redis import TIMEOUT_SECONDS, RedisKeyValue, connect
from tests.shared.valkey import valkey
from tests.shared.way import Way

LARGE = 8 * 1024 * 1024
SLACK = 0.9 * TIMEOUT_SECONDS  # of a busy machine: a wait too many takes TIMEOUT_SECONDS


@asynccontextmanager
async def redis(folder: Path) -> AsyncIterator[tuple[Way, RedisKeyValue]]:
    with valkey(folder) as server:
        port = urlsplit(server.url).port
        assert port is not None
        way = Way(port)
        async with way.served() as store:
            yield way, store


async def own(store: RedisKeyValue, number: int) -> None:
    """Somebody reads what is his, and nobody else's."""
    found = await store.get_many([f"k{number}", f"long{number}", "none"])
    assert found == [b"%d" % number, b"%d" % number * 5000, None]


async def filled(store: RedisKeyValue, count: int) -> None:
    for number in range(count):
        await store.put(f"k{number}", b"%d" % number, 60)
        await store.put(f"long{number}", b"%d" % number * 5000, 60)


async def test_who_leaves_in_the_middle_takes_nobodys_answer(tmp_path: Path) -> None:
    chance = random.Random(7)
    async with redis(tmp_path) as (way, store):
        await filled(store, 20)
        await own(store, 0)
        for _ in range(10):
            tasks = [asyncio.create_task(own(store, n % 20)) for n in range(100)]
            leaving = chance.sample(tasks, 50)
            while not all(task.done() for task in tasks):
                for task in chance.sample(leaving, 10):
                    task.cancel()
                await asyncio.sleep(0)
            stayed = [task for task in tasks if task not in leaving]
            await asyncio.gather(*stayed)
        assert way.opened <= 2  # one for the pipe, one for the client: nobody who leaves breaks it


async def test_a_redis_that_is_slow_for_a_moment_answers_everybody(tmp_path: Path) -> None:
    with valkey(tmp_path) as server:
        store = connect(server.url, "tester", "tester")
        await filled(store, 20)
        with server.admin() as admin:
            admin.client_pause(int(TIMEOUT_SECONDS * 500), all=True)
        await asyncio.gather(*(own(store, n) for n in range(20)))
        await store.close()


async def test_a_redis_that_is_slow_for_long_is_given_up_in_time_and_taken_up_at_once(
    tmp_path: Path,
) -> None:
    with valkey(tmp_path) as server:
        store = connect(server.url, "tester", "tester")
        await filled(store, 20)
        with server.admin() as admin:
            admin.client_pause(int(TIMEOUT_SECONDS * 2500), all=True)
        paused = time.monotonic()

        async def wait(delay: float, number: int) -> float:
            await asyncio.sleep(delay)
            began = time.monotonic()
            with pytest.raises(StoreUnavailable):
                await own(store, number)
            return time.monotonic() - began

        # some ask at once, some while others have waited for half of their time
        waits = [wait(delay, n) for n in range(10) for delay in (0, TIMEOUT_SECONDS / 2)]
        assert max(await asyncio.gather(*waits)) < TIMEOUT_SECONDS + SLACK
        await asyncio.sleep(max(0, paused + 2.6 * TIMEOUT_SECONDS - time.monotonic()))
        began = time.monotonic()
        await asyncio.gather(*(own(store, n) for n in range(20)))
        assert time.monotonic() - began < SLACK
        await store.close()


async def test_on_a_connection_that_is_silent_only_who_waited_too_long_gets_no_answer(
    tmp_path: Path,
) -> None:
    """As when Redis moves to another machine, and nothing says so on the old connection."""
    async with redis(tmp_path) as (way, store):
        await filled(store, 20)
        await own(store, 0)
        way.flows.clear()
        way.flows = asyncio.Event()  # of new connections
        way.flows.set()
        first = asyncio.create_task(own(store, 0))
        await asyncio.sleep(TIMEOUT_SECONDS / 2)
        others = [asyncio.create_task(own(store, n)) for n in range(1, 20)]
        with pytest.raises(StoreUnavailable):
            await first
        await asyncio.gather(*others)


async def test_an_answer_that_breaks_off_in_the_middle_is_asked_for_again(tmp_path: Path) -> None:
    async with redis(tmp_path) as (way, store):
        await filled(store, 20)
        await store.put("large", b"x" * LARGE, 60)
        await own(store, 0)
        for part in (10, LARGE // 2):
            way.break_after = part
            large = asyncio.create_task(store.get("large"))
            others = [asyncio.create_task(own(store, n)) for n in range(20)]
            assert await large == b"x" * LARGE
            await asyncio.gather(*others)


async def test_redis_dies_in_the_middle_of_an_answer_and_another_one_is_there(
    tmp_path: Path,
) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    with valkey(tmp_path / "one") as first, valkey(tmp_path / "other") as second:
        ports = [urlsplit(one.url).port for one in (first, second)]
        assert None not in ports
        way = Way(int(str(ports[0])))
        there = connect(second.url, "tester", "tester")
        await filled(there, 20)
        await there.close()
        async with way.served() as store:
            await store.put("large", b"x" * LARGE, 60)
            assert await store.get("k1") is None
            reading = [asyncio.create_task(store.get("large")) for _ in range(8)]
            await asyncio.sleep(0)
            first.process.kill()
            first.process.wait()
            found = await asyncio.gather(*reading, return_exceptions=True)
            whole = b"x" * LARGE
            assert all(one == whole or isinstance(one, StoreUnavailable) for one in found)
            with pytest.raises(StoreUnavailable):
                await store.get("k1")
            way.port = int(str(ports[1]))
            began = time.monotonic()
            await asyncio.gather(*(own(store, n) for n in range(20)))
            assert time.monotonic() - began < SLACK
