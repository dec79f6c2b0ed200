"""A right that ends while something is at work ends that too: no result is heard, its server stops.

Within a second of strad's learning it, on every replica, for whatever is asked in whatever version.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from shared.contracts.wire import INTERNAL_REFRESH_PATH
from shared.stores.sessions import SessionWriter
from shared.web.lines import LINES_TYPE
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller, message
from tests.relay.pdp import Pdp
from tests.relay.stuck import PARAMS, SECRET, Stuck, merged
from tests.relay.test_audit import trail
from tests.relay.test_progress import call_of, calling
from tests.relay.twins import twin

TOKEN = "a-long-secret"
SECONDS = 1.0
Ask = Callable[[], Awaitable[tuple[int, str]]]


@asynccontextmanager
async def town(
    server: Stuck, slugs: Sequence[str] = ("a",), **more: Any
) -> AsyncIterator[tuple[House, Pdp]]:
    """ada may use these, all of them the one server, as a decision point says."""
    pdp = Pdp(ada=set(slugs))
    async with pdp.served() as point, server.served() as url:
        rules = {"keep": 60, "keep_denied": 60, "decision_point": {"url": point}}
        servers = [{"slug": slug, "url": url, "access": {}, "timeout": 30} | more for slug in slugs]
        async with house(servers, entitlements=rules, refresh_token=TOKEN) as h:
            yield h, pdp


async def end_grant(h: House, pdp: Pdp, slug: str = "a") -> None:
    pdp.may["ada"] -= {slug}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    address = h.internal_url + INTERNAL_REFRESH_PATH
    async with h.http.post(address, json={}, headers=headers) as response:
        assert response.status == 204


async def end_token(h: House, _: Pdp) -> None:
    subject = h.person("ada").subject
    for record in (await h.token_writer.of(subject)).values():
        await h.token_writer.revoke(subject, record.id)


ends = pytest.mark.parametrize(
    ("end", "reason"), [(end_grant, "not-entitled"), (end_token, "access-ended")]
)


async def new_caller(h: House, path: str, method: str, slug: str = "a") -> Ask:
    params = PARAMS[method] if path != "/mcp" else merged(PARAMS[method], slug)

    async def ask() -> tuple[int, str]:
        status, body = await h.modern(path, method, params)
        return status, body if isinstance(body, str) else json.dumps(body)

    return ask


async def old_caller(h: House, path: str, method: str, slug: str = "a", *, at: str = "") -> Ask:
    caller = await OldCaller.begin(h, path, at=at)
    params = PARAMS[method] if path != "/mcp" else merged(PARAMS[method], slug)

    async def ask() -> tuple[int, str]:
        async with caller.post(message(method, 7, **params)) as response:
            return response.status, await response.text()

    return ask


CALLERS = {"2026-07-28": new_caller, "2025-11-25": old_caller}
callers = pytest.mark.parametrize("version", CALLERS)
both_eras = pytest.mark.parametrize("era", ["modern", "legacy"])
paths = pytest.mark.parametrize("path", ["/mcp/a", "/mcp"])


async def stopped(h: House, pdp: Pdp, server: Stuck, ask: Ask, end: Any) -> tuple[int, str]:
    """What the caller hears once its right has ended, and its server has been told."""
    task = asyncio.ensure_future(ask())
    await asyncio.wait_for(server.began.wait(), 5)
    await end(h, pdp)
    learned = time.monotonic()
    async with asyncio.timeout(5):
        status, text = await task
        await server.cancelled()
    assert time.monotonic() - learned < SECONDS
    assert SECRET not in text
    return status, text


async def ended_as(h: House) -> list[tuple[str, str]]:
    """How calls have ended, as the trail says it once one has."""
    async with asyncio.timeout(5):
        while True:
            calls = [one for one in await trail(h, 1) if one.get("method") == "tools/call"]
            if found := [one for one in calls if one["event"] == "request"]:
                return [(one["outcome"], one["reason"]) for one in found]
            await asyncio.sleep(0.01)


@callers
@both_eras
@paths
@ends
@pytest.mark.parametrize("streams", [False, True], ids=["JSON", "SSE"])
async def test_a_call_at_work_is_stopped_and_nothing_of_its_result_is_heard(
    version: str, era: str, path: str, end: Any, reason: str, streams: bool
) -> None:
    server = Stuck(era, streams=streams)
    async with town(server) as (h, pdp):
        ask = await CALLERS[version](h, path, "tools/call")
        status, text = await stopped(h, pdp, server, ask, end)
        body = json.loads(text)
        # 401 would have clients sign in anew and repeat what may have been done
        assert (status, body["id"], body["error"]["data"]["kind"]) == (403, 7, "forbidden")
        assert "see what came of it" in body["error"]["message"]
        assert await ended_as(h) == [("forbidden", reason)]


@callers
@both_eras
async def test_an_answer_that_has_begun_ends_with_the_reason(version: str, era: str) -> None:
    server = Stuck(era, streams=True, speaks=True)
    async with town(server) as (h, pdp):
        ask = await CALLERS[version](h, "/mcp/a", "tools/call")
        status, text = await stopped(h, pdp, server, ask, end_grant)
        last = text.strip().splitlines()[-1]
        told = json.loads(last.removeprefix("data:") if status == 200 else text)
        assert (told["id"], told["error"]["data"]["kind"]) == (7, "forbidden")


@callers
@both_eras
@paths
@pytest.mark.parametrize("method", [one for one in PARAMS if one != "tools/call"])
async def test_whatever_else_is_at_work_is_stopped_too(
    version: str, era: str, path: str, method: str
) -> None:
    server = Stuck(era, method)
    async with town(server) as (h, pdp):
        ask = await CALLERS[version](h, path, method)
        status, text = await stopped(h, pdp, server, ask, end_grant)
        assert (status, json.loads(text)["error"]["data"]["kind"]) == (403, "forbidden")


@both_eras
async def test_it_is_stopped_at_whichever_replica_it_is(era: str) -> None:
    server = Stuck(era)
    async with town(server) as (h, pdp), twin(h) as other:
        ask = await old_caller(h, "/mcp/a", "tools/call", at=other)
        assert (await stopped(h, pdp, server, ask, end_token))[0] == 403


@both_eras
@pytest.mark.parametrize("accept", ["*/*", LINES_TYPE])
@pytest.mark.parametrize("ended", ["grant", "session"])
async def test_a_call_of_a_page_is_stopped(era: str, accept: str, ended: str) -> None:
    server = Stuck(era)
    async with town(server) as (h, pdp):
        session = await h.session("ada")

        async def ask() -> tuple[int, str]:
            body = call_of() | {"surface": "console"}
            async with calling(h, body, session=session, accept=accept) as response:
                return response.status, await response.text()

        async def end(h: House, pdp: Pdp) -> None:
            if ended == "grant":
                await end_grant(h, pdp)
                return
            writer = SessionWriter(h.store, h.settings.base.seal, h.clock)
            await writer.end(session)

        status, _ = await stopped(h, pdp, server, ask, end)
        assert status == (404 if ended == "grant" else 401)


async def test_what_is_asked_of_one_server_goes_on_when_the_right_to_another_ends() -> None:
    server = Stuck("modern")
    async with town(server, ("a", "b")) as (h, pdp):
        for caller in CALLERS.values():
            pdp.may["ada"] = {"a", "b"}
            await end_grant(h, pdp, "nothing")
            server.began.clear()
            server.go_on.clear()
            ask = await caller(h, "/mcp", "tools/call")
            task = asyncio.ensure_future(ask())
            await asyncio.wait_for(server.began.wait(), 5)
            await end_grant(h, pdp, "b")
            assert (await h.modern("/mcp/b", "tools/list"))[0] == 404
            server.go_on.set()
            status, text = await asyncio.wait_for(task, 5)
            assert (status, SECRET in text) == (200, True)


@callers
@both_eras
async def test_a_right_that_ends_before_a_server_was_asked_leaves_it_unasked(
    version: str, era: str
) -> None:
    """The listing that a policy needs takes its time; the call would come after it."""
    server = Stuck(era, "tools/list")
    async with town(server, tools={"allow": ["go"]}) as (h, pdp):
        ask = await CALLERS[version](h, "/mcp/a", "tools/call")
        task = asyncio.ensure_future(ask())
        await asyncio.wait_for(server.began.wait(), 5)
        await end_grant(h, pdp)
        await asyncio.wait([task], timeout=SECONDS)  # stopped at its listing, or let go on
        server.go_on.set()
        status, _ = await asyncio.wait_for(task, 5)
        assert status == 403
        assert "tools/call" not in server.methods
