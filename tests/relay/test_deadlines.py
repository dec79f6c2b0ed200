"""Deadlines: they end what is inside, never too soon, and cost no timer each."""

import asyncio
import time
from typing import Any

import pytest

from services.relay.servers import deadlines
from services.relay.servers.deadlines import GRAIN_SECONDS, Patience, deadline
from shared.contracts.config import Server
from shared.contracts.problems import Problem, ProblemKind
from tests.relay.house import config_of

SECONDS = 0.3
LATE = pytest.raises(Problem, check=lambda e: e.kind is ProblemKind.UPSTREAM_TIMEOUT)


def server() -> Server:
    return config_of([{"slug": "x", "url": "http://127.0.0.1:9/mcp", "timeout": 1}], 1).servers[0]


async def test_what_is_inside_ends_in_time_and_not_before() -> None:
    began = time.monotonic()
    with LATE:
        async with deadline(server(), SECONDS):
            await asyncio.sleep(30)
    assert SECONDS <= time.monotonic() - began < 10


async def test_who_is_done_in_time_is_not_ended_later() -> None:
    async with deadline(server(), SECONDS) as limit:
        pass
    await asyncio.sleep(SECONDS + 2 * GRAIN_SECONDS)
    assert not limit.expired()
    assert not deadlines._timers(asyncio.get_running_loop())._due  # nor is its timer kept


async def test_a_sign_of_life_moves_it_and_none_at_all_takes_it_away() -> None:
    clock = asyncio.get_running_loop().time
    async with deadline(server(), SECONDS) as limit:
        limit.reschedule(None)
        await asyncio.sleep(SECONDS + 2 * GRAIN_SECONDS)
        limit.reschedule(clock() + 30)
        limit.reschedule(clock() + 60)
        await asyncio.sleep(2 * GRAIN_SECONDS)
    began = clock()
    with LATE:
        async with deadline(server(), SECONDS) as limit:
            Patience(limit, server()).renew()  # a whole second from now
            await asyncio.sleep(30)
    assert clock() - began >= 1


async def test_the_inner_of_two_ends_its_own_and_the_outer_goes_on() -> None:
    async with deadline(server(), 30):
        with LATE:
            async with deadline(server(), SECONDS):
                await asyncio.sleep(30)
        await asyncio.sleep(0)


async def test_one_that_is_moved_while_it_ends_keeps_none_of_the_others_from_ending() -> None:
    """A server says that it is at work at that very moment, and its caller takes long to leave."""
    clock = asyncio.get_running_loop().time
    until, leave = clock() + 2 * SECONDS, asyncio.Event()

    async def moved() -> None:
        async with deadline(server(), SECONDS) as limit:
            try:
                await asyncio.sleep(30)
            finally:
                limit.reschedule(until)
                await leave.wait()

    async def other() -> None:
        async with deadline(server(), 30) as limit:
            limit.reschedule(until)
            await asyncio.sleep(30)

    tasks = [asyncio.create_task(work()) for work in (moved, *[other] * 8)]
    async with asyncio.timeout(10):
        found = await asyncio.gather(*tasks[1:], return_exceptions=True)
        leave.set()
        with LATE:
            await tasks[0]
    assert {type(one) for one in found} == {Problem}


async def test_who_is_called_off_is_not_late() -> None:
    async def work() -> None:
        async with deadline(server(), 30):
            await asyncio.sleep(30)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_thousand_share_a_few_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, made = asyncio.get_running_loop(), list[Any]()
    call_at = loop.call_at

    def counted(when: float, *rest: Any, **more: Any) -> asyncio.TimerHandle:
        made.append(when)
        return call_at(when, *rest, **more)

    monkeypatch.setattr(loop, "call_at", counted)
    began = loop.time()
    for _ in range(1000):
        async with deadline(server(), 30):
            pass
    assert len(made) <= 2 + (loop.time() - began) / GRAIN_SECONDS
    assert not any(deadlines._timers(loop)._due.values())  # who is done is in none of them


def test_each_loop_ends_its_own() -> None:
    async def late() -> None:
        with LATE:
            async with deadline(server(), SECONDS):
                await asyncio.sleep(30)

    asyncio.run(late())
    asyncio.run(late())
