"""Whoever is called off stops: the right request, at the right server, soon, and nobody else's."""

import asyncio
import contextlib
import time
from typing import Any

import pytest

from shared.web.serve import GRACE_SECONDS
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller
from tests.relay.test_cancel import SOON, Cancelled
from tests.relay.twins import two_before

BOTH = {"people": ["ada@strad.test", "bob@strad.test"]}
CROSSING = [
    pytest.param("modern", "/mcp/a", "go", id="C"),
    pytest.param("modern", "/mcp", "a__go", id="merged, modern"),
    pytest.param("legacy", "/mcp", "a__go", id="merged, legacy"),
]
across = pytest.mark.parametrize(("era", "path", "tool"), CROSSING)


def _call(caller: OldCaller, tool: str, request_id: Any) -> "asyncio.Task[list[Any]]":
    return asyncio.create_task(caller.ask("tools/call", request_id, name=tool, arguments={}))


@across
@pytest.mark.parametrize("reports", [True, False])
@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "at another replica"])
async def test_a_message_calls_a_request_off_at_its_server(
    era: str, path: str, tool: str, reports: bool, elsewhere: bool
) -> None:
    call = Cancelled(era, reports=reports)
    async with two_before(call.server, timeout=20) as (h, other):
        caller = await OldCaller.begin(h, path)
        task = _call(caller, tool, "mine")
        await asyncio.wait_for(call.began.wait(), 5)
        caller.at = other if elsewhere else h.url
        noticed = asyncio.create_task(call.took())
        assert await caller.tell("notifications/cancelled", requestId="mine") == 202
        assert await noticed < SOON
        # no answer: its caller has said that it waits for none
        assert [m for m in await asyncio.wait_for(task, 5) if "method" not in m] == []


async def test_a_request_id_is_its_sessions_own_and_only_that_request_stops() -> None:
    call = Cancelled("modern", reports=False)
    async with (
        call.server.served() as url,
        house([{"slug": "a", "url": url, "access": BOTH, "timeout": 20}]) as h,
    ):
        ada, again = await OldCaller.begin(h, "/mcp/a"), await OldCaller.begin(h, "/mcp/a")
        bob = await OldCaller.begin(h, "/mcp/a")
        bob.name = "bob"
        task = _call(ada, "go", 1)
        await asyncio.wait_for(call.began.wait(), 5)
        assert await again.tell("notifications/cancelled", requestId=1) == 202
        for wrong in ("1", 2, True, None, {"x": 1}):
            assert await ada.tell("notifications/cancelled", requestId=wrong) == 202
        bob.session = ada.session
        assert await bob.tell("notifications/cancelled", requestId=1) == 404
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call.left.wait(), 0.3)
        assert not task.done()
        await ada.tell("notifications/cancelled", requestId=1)
        await asyncio.wait_for(call.left.wait(), 5)
        await task


@across
async def test_an_older_caller_that_hangs_up_has_called_nothing_off(
    era: str, path: str, tool: str
) -> None:
    call = Cancelled(era, reports=False)
    async with (
        call.server.served() as url,
        house([{"slug": "a", "url": url, "timeout": 20}]) as h,
    ):
        caller = await OldCaller.begin(h, path)
        task = _call(caller, tool, 1)
        await asyncio.wait_for(call.began.wait(), 5)
        task.cancel()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(call.noticed(), 0.5)
        # and it still can
        noticed = asyncio.create_task(call.took())
        await caller.tell("notifications/cancelled", requestId=1)
        assert await noticed < SOON


async def _modern(h: House, path: str, tool: str) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        await h.modern(path, "tools/call", {"name": tool})


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(("path", "tool"), [("/mcp/a", "go"), ("/mcp", "a__go")])
@pytest.mark.parametrize("reports", [True, False])
async def test_a_modern_caller_that_hangs_up_calls_off_at_its_server(
    era: str, path: str, tool: str, reports: bool
) -> None:
    call = Cancelled(era, reports=reports)
    async with (
        call.server.served() as url,
        house([{"slug": "a", "url": url, "timeout": 20}]) as h,
    ):
        task = asyncio.create_task(_modern(h, path, tool))
        await asyncio.wait_for(call.began.wait(), 5)
        task.cancel()
        assert await call.took() < SOON


async def test_between_two_of_one_version_the_message_passes_as_it_is_and_a_hang_up_does_not() -> (
    None
):
    call = Cancelled("legacy", reports=False)
    async with two_before(call.server, timeout=20) as (h, other):
        caller = await OldCaller.begin(h, "/mcp/a")
        task = _call(caller, "go", "its own")
        await asyncio.wait_for(call.began.wait(), 5)
        task.cancel()
        await asyncio.sleep(0.2)
        assert "notifications/cancelled" not in call.server.methods
        caller.at = other
        started = time.monotonic()
        assert await caller.tell("notifications/cancelled", requestId="its own") == 202
        assert time.monotonic() - started < SOON
        (said,) = [m for m in call.server.messages if m["method"] == "notifications/cancelled"]
        assert said["params"] == {"requestId": "its own"}
        assert call.server.seen[-1].headers["Mcp-Session-Id"] == "s1"


async def test_a_replica_that_stops_waits_for_no_abandoned_request() -> None:
    call = Cancelled("modern", reports=False)
    async with call.server.served() as url:
        async with house([{"slug": "a", "url": url, "timeout": 20}]) as h:
            caller = await OldCaller.begin(h, "/mcp/a")
            task = _call(caller, "go", 1)
            await asyncio.wait_for(call.began.wait(), 5)
            task.cancel()
            stopping = time.monotonic()
        assert time.monotonic() - stopping < GRACE_SECONDS / 2
        await asyncio.wait_for(call.left.wait(), 5)
