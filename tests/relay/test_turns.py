"""So many requests at once at a server: nobody starves because of somebody else."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from services.relay.servers import turns
from services.relay.servers.turns import Places
from shared.contracts.problems import Problem
from tests.relay.house import config_of, house
from tests.relay.upstreams import LegacyFake, modern_fake

DONE = {"result": {"resultType": "complete", "content": []}}
CALL = ("tools/call", {"name": "go"})
BOTH = {"people": ["ada@strad.test", "bob@strad.test"]}


def places(at_once: int) -> Places:
    server = {"slug": "x", "url": "http://127.0.0.1:9/mcp", "at_once": at_once}
    return Places(config_of([server], 1).servers[0])


class Held:
    """Requests that have a place, by person, until they are let go."""

    def __init__(self, here: Places) -> None:
        self._here = here
        self.order: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.go = asyncio.Event()
        self.left: Counter[str] = Counter()

    async def _one(self, who: str) -> None:
        await self._here.take(who)
        try:
            self.order.append(who)
            await self.go.wait()
        finally:
            self._here.give_back(who)
        self.left[who] += 1

    async def ask(self, who: str, count: int = 1) -> list[asyncio.Task[None]]:
        asked = [asyncio.create_task(self._one(who)) for _ in range(count)]
        self.tasks += asked
        for _ in range(3):
            await asyncio.sleep(0)
        return asked


@asynccontextmanager
async def held(at_once: int) -> AsyncIterator[Held]:
    found = Held(places(at_once))
    yield found
    found.go.set()
    await asyncio.gather(*found.tasks, return_exceptions=True)
    assert found._here._free == at_once
    assert not found._here._held
    assert not found._here._waiting


async def test_one_person_has_at_most_half_of_the_places() -> None:
    async with held(6) as h:
        await h.ask("ada", 5)
        assert h.order == ["ada"] * 3
        await h.ask("bob", 2)
        assert h.order == ["ada"] * 3 + ["bob"] * 2
        await h.ask("eve", 3)
        assert h.order == ["ada"] * 3 + ["bob"] * 2 + ["eve"]


async def test_those_who_wait_are_served_in_a_circle() -> None:
    async with held(2) as h:
        first = await h.ask("ada") + await h.ask("bob")
        await h.ask("ada", 2)
        await h.ask("bob", 2)
        await h.ask("eve", 1)
        assert h.order == ["ada", "bob"]
        h.go.set()
        await asyncio.gather(*first, *h.tasks)
        assert h.order[2:] == ["ada", "bob", "eve", "ada", "bob"]


async def test_nobody_waits_for_long_or_in_a_long_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "WAIT_SECONDS", 0.05)
    async with held(2) as h:
        await h.ask("ada")
        waiting = await h.ask("ada", 10)
        assert sum(task.done() for task in waiting) == 2  # eight may wait
        done, _ = await asyncio.wait(waiting, timeout=5)
        assert len(done) == 10
        for task in done:
            error = task.exception()
            assert isinstance(error, Problem)
            assert (error.status, error.reason) == (429, "server-busy")
        await h.ask("bob")
        assert h.order == ["ada", "bob"]


async def test_whoever_leaves_takes_no_place_along() -> None:
    async with held(2) as h:
        (first,) = await h.ask("ada")
        waiting = await h.ask("ada", 2)
        waiting[0].cancel()
        await asyncio.gather(waiting[0], return_exceptions=True)
        first.cancel()  # frees a place and calls the second, who leaves at that very moment
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.gather(first, waiting[1], return_exceptions=True)
        await h.ask("ada")
        assert h.order[-1] == "ada"


async def test_a_server_with_one_place_serves_everybody_one_after_the_other() -> None:
    async with held(1) as h:
        await h.ask("ada", 1)
        await h.ask("bob", 1)
        assert h.order == ["ada"]
        h.go.set()
        await asyncio.gather(*h.tasks)
        assert h.order == ["ada", "bob"]


async def test_while_one_person_fills_a_server_another_is_answered() -> None:
    async def call(_: Any, message: Any) -> Any:
        if message["params"]["name"] == "slow":
            await asyncio.sleep(30)
        return DONE

    fake = modern_fake([], call)
    slow = ("tools/call", {"name": "slow"})
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url, "access": BOTH, "at_once": 4, "timeout": 20}]) as h,
    ):
        assert (await h.modern("/mcp/x", *CALL))[0] == 200
        assert (await h.modern("/mcp/x", *CALL, name="bob"))[0] == 200
        flood = [asyncio.create_task(h.modern("/mcp/x", *slow)) for _ in range(8)]
        async with asyncio.timeout(5):
            while fake.methods.count("tools/call") < 4:
                await asyncio.sleep(0.01)
            for _ in range(5):
                assert (await h.modern("/mcp/x", *CALL, name="bob"))[0] == 200
        # the flood has half of the places, and waits for itself
        assert fake.methods.count("tools/call") == 4 + 5
        for task in flood:
            task.cancel()
        await asyncio.gather(*flood, return_exceptions=True)
        assert (await h.modern("/mcp/x", *CALL))[0] == 200


async def test_a_session_of_a_full_server_still_hears_what_is_called_off() -> None:
    called_off = asyncio.Event()

    class Slow(LegacyFake):
        def _reply(self, request: Any, message: Any) -> Any:
            if message.get("method") == "tools/call":
                return asyncio.sleep(30)
            if message.get("method") == "notifications/cancelled":
                called_off.set()
            return super()._reply(request, message)

    fake = Slow()
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url, "at_once": 1, "timeout": 20}]) as h,
    ):
        task = asyncio.create_task(h.modern("/mcp/x", *CALL))
        async with asyncio.timeout(5):
            while "tools/call" not in fake.methods:
                await asyncio.sleep(0.01)
            task.cancel()
            await called_off.wait()
        await asyncio.gather(task, return_exceptions=True)
