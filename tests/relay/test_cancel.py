"""apphost leaves in the middle of a call: its server hears of it at once, whatever it speaks."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.relay.house import House, house
from tests.relay.test_progress import (
    Work,
    WorkingLegacy,
    both_eras,
    call_of,
    calling,
    fake,
    told,
)
from tests.relay.upstreams import Fake

# who is not told finds out by a deadline, or by a look every two seconds
SOON = 1.0


class Cancelled:
    """When a server noticed that a call is of no use any more."""

    def __init__(
        self, era: str, *, reports: bool, make: Callable[[str, Work], Fake] = fake
    ) -> None:
        self._era = era
        self._reports = reports
        self.began = asyncio.Event()
        self.left = asyncio.Event()
        self.server = make(era, self._work)

    async def _work(self, token: Any, send: Any) -> None:
        if self._reports:
            await send(told(token, 1))
        self.began.set()
        try:
            await asyncio.sleep(30)
        finally:
            self.left.set()

    async def noticed(self) -> None:
        """A server of 2026-07-28 is left by its caller; an older one is sent a message."""
        if self._era == "modern":
            await self.left.wait()
        while self._era == "legacy" and "notifications/cancelled" not in self.server.methods:
            await asyncio.sleep(0.005)

    async def took(self) -> float:
        started = time.monotonic()
        async with asyncio.timeout(5):
            await self.noticed()
        return time.monotonic() - started


async def _ask(h: House, accept: str) -> None:
    async with calling(h, call_of(), accept=accept) as response:
        await response.read()


@both_eras
@pytest.mark.parametrize("reports", [True, False])
@pytest.mark.parametrize("accept", ["application/x-ndjson", "*/*"])
async def test_a_call_that_is_left_is_cancelled_at_its_server(
    era: str, reports: bool, accept: str
) -> None:
    call = Cancelled(era, reports=reports)
    async with (
        call.server.served() as url,
        house([{"slug": "a", "url": url, "timeout": 20}]) as h,
    ):
        task = asyncio.create_task(_ask(h, accept))
        await asyncio.wait_for(call.began.wait(), 5)
        task.cancel()
        assert await call.took() < SOON


async def test_an_older_server_is_told_of_the_relays_own_request_and_in_its_session() -> None:
    call = Cancelled("legacy", reports=True)
    async with (
        call.server.served() as url,
        house([{"slug": "a", "url": url, "timeout": 20}]) as h,
    ):
        task = asyncio.create_task(_ask(h, "application/x-ndjson"))
        await asyncio.wait_for(call.began.wait(), 5)
        task.cancel()
        await call.took()
        told_at = call.server.methods.index("notifications/cancelled")
        called_at = call.server.methods.index("tools/call")
        messages, seen = call.server.messages, call.server.seen
        assert messages[told_at]["params"]["requestId"] == messages[called_at]["id"]
        sessions = {seen[n].headers.get("Mcp-Session-Id") for n in (told_at, called_at)}
        assert len(sessions) == 1
        assert None not in sessions


async def test_one_call_that_is_left_leaves_the_others_alone() -> None:
    go_on, began = asyncio.Event(), asyncio.Semaphore(0)

    async def work(token: Any, send: Any) -> None:
        began.release()
        await go_on.wait()

    server = WorkingLegacy(work)
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        tasks = [asyncio.create_task(_ask(h, "*/*")) for _ in range(3)]
        for _ in tasks:
            await began.acquire()
        tasks[1].cancel()
        while "notifications/cancelled" not in server.methods:
            await asyncio.sleep(0.01)
        go_on.set()
        await asyncio.wait_for(asyncio.gather(tasks[0], tasks[2]), 3)
        assert server.methods.count("notifications/cancelled") == 1
