"""Every fault of a server in the middle of a call, in every cell and view.

Nothing hangs past its deadline, nothing is lost silently, nothing is repeated, and the next call
works.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from tests.relay.house import House, house
from tests.relay.stuck import PARAMS, SECRET, Stuck
from tests.relay.test_audit import trail
from tests.relay.test_revoked_at_work import CALLERS, Ask, callers

TIMEOUT = 2
SLACK = 2.0  # of a busy machine
Steps = tuple[Callable[[], Awaitable[None]], Callable[[], Awaitable[None]]]


async def hangs(server: Stuck, steps: Steps) -> None:
    """It says nothing more."""


async def dies(server: Stuck, steps: Steps) -> None:
    """Its process ends, and another one comes at the same address."""
    stop, start = steps
    await stop()
    await start()


async def stays_away(server: Stuck, steps: Steps) -> None:
    """Its process ends, and none comes until it is wanted again."""
    await steps[0]()


FAULTS = {
    # what it does, and how its call ends for the trail
    "hangs": (hangs, "upstream-timeout"),
    "dies": (dies, "upstream-unreachable"),
    "stays away": (stays_away, "upstream-unreachable"),
}
SHAPES: dict[str, dict[str, Any]] = {
    "JSON": {},
    "SSE": {"streams": True},
    "SSE that has begun": {"streams": True, "speaks": True},
}


ERAS = ("modern", "legacy")


@dataclass
class Case:
    """One server, and who asks it for something that it does not come to the end of."""

    slug: str
    server: Stuck
    path: str
    steps: Steps
    method: str = "tools/call"

    async def ask(self, h: House, version: str) -> Ask:
        return await CALLERS[version](h, self.path, self.method, self.slug)

    @property
    def asked(self) -> int:
        return self.server.methods.count(self.method)


@asynccontextmanager
async def town(servers: dict[str, Stuck]) -> AsyncIterator[tuple[House, dict[str, Steps]]]:
    """All of them in one house, each at an address of its own."""
    async with AsyncExitStack() as running:
        places, steps = [], {}
        for slug, server in servers.items():
            url, stop, start = await running.enter_async_context(server.restartable())
            places.append({"slug": slug, "url": url, "timeout": TIMEOUT})
            steps[slug] = (stop, start)
        yield await running.enter_async_context(house(places)), steps


async def _how_it_ended(h: House, slug: str) -> str:
    async with asyncio.timeout(5):
        while True:
            calls = [one for one in await trail(h, 1) if one.get("method") == "tools/call"]
            if found := [one for one in calls if one["server"] == slug]:
                return str(found[0]["outcome"])
            await asyncio.sleep(0.01)


async def _suffers(h: House, case: Case, version: str, fault: str) -> None:
    """The fault, in the middle of what is asked; its caller; and the next one."""
    happens, _ = FAULTS[fault]
    ask = await case.ask(h, version)
    task = asyncio.ensure_future(ask())
    await asyncio.wait_for(case.server.began.wait(), 20)
    began = time.monotonic()
    await happens(case.server, case.steps)
    status, text = await asyncio.wait_for(task, 20)
    # a list or a read may be asked for once more, with its own time again
    times = 1 if case.method == "tools/call" else 2
    assert time.monotonic() - began < times * TIMEOUT + SLACK, case
    told = _answer(status, text)
    assert told["error"]["message"], case
    assert "result" not in told, case
    assert SECRET not in text, case
    assert case.asked <= times, case
    before = case.asked
    if fault == "stays away":
        await case.steps[1]()
    case.server.go_on.set()
    status, text = await asyncio.wait_for(ask(), 20)
    assert (status, SECRET in text) == (200, True), case
    assert case.asked == before + 1, case


def _answer(status: int, text: str) -> Any:
    lines = [one for one in text.splitlines() if one.startswith("data:")]
    return json.loads(lines[-1][5:] if lines else text)


@callers
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_server_in_the_middle_of_a_call(version: str, fault: str) -> None:
    wanted = list(product(ERAS, SHAPES, ("one", "merged")))
    servers = {f"s{n}": Stuck(era, **SHAPES[shape]) for n, (era, shape, _) in enumerate(wanted)}
    async with town(servers) as (h, steps):
        cases = [
            Case(slug, server, "/mcp" if view == "merged" else f"/mcp/{slug}", steps[slug])
            for (slug, server), (_, _, view) in zip(servers.items(), wanted, strict=True)
        ]
        await asyncio.gather(*(_suffers(h, case, version, fault) for case in cases))
        for case in cases:
            assert await _how_it_ended(h, case.slug) == FAULTS[fault][1], case


@callers
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_server_in_the_middle_of_whatever_else(version: str, fault: str) -> None:
    methods = [one for one in PARAMS if one != "tools/call"]
    wanted = list(product(ERAS, methods))
    servers = {f"s{n}": Stuck(era, method) for n, (era, method) in enumerate(wanted)}
    async with town(servers) as (h, steps):
        cases = [
            Case(slug, server, f"/mcp/{slug}", steps[slug], method)
            for (slug, server), (_, method) in zip(servers.items(), wanted, strict=True)
        ]
        await asyncio.gather(*(_suffers(h, case, version, fault) for case in cases))
