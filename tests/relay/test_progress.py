"""A call says how far it is to whoever asked for it, and to nobody else."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from mcp.server.mcpserver import Context, MCPServer

from shared.contracts.config import Server
from shared.contracts.wire import ASSERTION_HEADER
from shared.stores.sessions import SessionWriter
from shared.web.lines import LINES_TYPE
from tests.relay.house import House, house
from tests.relay.upstreams import Fake, LegacyFake, modern_fake, sdk_app, served

PAGE = "ui://toys/view.html"
GO = {"name": "go", "inputSchema": {}}
DONE = {"resultType": "complete", "content": [], "structuredContent": {"n": 7}}


def working_server() -> MCPServer:
    server = MCPServer("work")

    @server.tool()
    async def steps(ctx: Context[Any]) -> str:
        for number in range(3):
            await ctx.report_progress(number, 3, f"step {number}")
        return "done"

    return server


def call_of(tool: str = "go", **more: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": {}} | more
    return {"method": "tools/call", "params": params, "surface": "app", "page": PAGE}


@asynccontextmanager
async def calling(
    h: House, body: Any, *, session: str | None = None, accept: str = LINES_TYPE
) -> AsyncIterator[aiohttp.ClientResponse]:
    """apphost calls a tool and takes lines."""
    signed = h.assertion("ada", session or await h.session("ada"), "a")
    async with h.http.post(
        f"{h.internal_url}/internal/v1/servers/a/rpc",
        json=body,
        headers={ASSERTION_HEADER: signed, "Accept": accept},
    ) as response:
        yield response


async def lines(h: House, body: Any, **more: Any) -> list[Any]:
    """All that apphost hears of one call."""
    async with calling(h, body, **more) as response:
        assert response.status == 200
        return [json.loads(line) for line in (await response.text()).splitlines()]


def told(token: Any, progress: Any, **more: Any) -> dict[str, Any]:
    params = {"progressToken": token, "progress": progress} | more
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


Work = Callable[[Any, Callable[[Any], Any]], Any]


def streaming(work: Work) -> Callable[[web.Request, Any], Any]:
    """`work` gets the token and a function that sends a message; then comes the result."""

    async def answer(request: web.Request, message: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)

        async def send(said: Any) -> None:
            await response.write(b"data: " + json.dumps(said).encode() + b"\n\n")

        token = message["params"].get("_meta", {}).get("progressToken")
        await work(token, send)
        await send({"jsonrpc": "2.0", "id": message["id"], "result": DONE})
        return response

    return answer


class WorkingLegacy(LegacyFake):
    """A server of 2025-11-25 whose call is `work`."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._stream = streaming(work)

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        if message.get("method") == "tools/call":
            self.calls.append(message["params"])
            return self._stream(request, message)
        return super()._reply(request, message)


def fake(era: str, work: Work) -> Fake:
    return WorkingLegacy(work) if era == "legacy" else modern_fake([GO], streaming(work))


def tokens(server: Fake) -> list[Any]:
    """The progress tokens that a server was given."""
    called = [m for m in server.messages if m.get("method") == "tools/call"]
    return [m["params"].get("_meta", {}).get("progressToken") for m in called]


ERAS = ("modern", "legacy")
both_eras = pytest.mark.parametrize("era", ERAS)


@both_eras
async def test_progress_comes_line_by_line_and_the_result_last(era: str) -> None:
    async with (
        served(sdk_app(working_server(), era)) as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        *said, last = await lines(h, call_of("steps"))
        assert said == [
            {"progress": {"progress": n, "total": 3, "message": f"step {n}"}} for n in range(3)
        ]
        assert last["result"]["content"][0]["text"] == "done"


@both_eras
async def test_each_line_comes_when_the_server_says_it(era: str) -> None:
    go_on = asyncio.Event()

    async def work(token: Any, send: Any) -> None:
        await send(told(token, 1))
        await go_on.wait()

    async with (
        fake(era, work).served() as url,
        house([{"slug": "a", "url": url}]) as h,
        calling(h, call_of()) as response,
    ):
        assert response.content_type == LINES_TYPE
        async with asyncio.timeout(5):
            first = json.loads(await response.content.readline())
        assert first == {"progress": {"progress": 1}}
        go_on.set()
        assert "result" in json.loads(await response.content.readline())


@both_eras
async def test_a_server_never_sees_the_callers_token_and_each_call_has_its_own(era: str) -> None:
    async def work(token: Any, send: Any) -> None:
        await send(told("the-callers", 1))
        await send(told(token, 2))

    server = fake(era, work)
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        asked = call_of(_meta={"progressToken": "the-callers"})
        answers = await asyncio.gather(*(lines(h, asked) for _ in range(5)))
        for *said, _ in answers:
            assert said == [{"progress": {"progress": 2}}]
        given = tokens(server)
        assert len(set(given)) == 5
        assert "the-callers" not in given


@both_eras
async def test_a_server_cannot_tell_one_caller_of_anothers_call(era: str) -> None:
    seen: list[Any] = []
    both = asyncio.Event()

    async def work(token: Any, send: Any) -> None:
        seen.append(token)
        if len(seen) == 2:
            both.set()
        await both.wait()
        other = next(one for one in seen if one != token)
        await send(told(other, 99))
        await send(told(token, 1))

    async with fake(era, work).served() as url, house([{"slug": "a", "url": url}]) as h:
        for *said, _ in await asyncio.gather(lines(h, call_of()), lines(h, call_of())):
            assert said == [{"progress": {"progress": 1}}]


@both_eras
async def test_what_is_no_progress_of_this_call_is_not_passed_on(era: str) -> None:
    async def work(token: Any, send: Any) -> None:
        wrong: list[Any] = [
            told(None, 1),
            told([token], 1),
            told(token, "1"),
            told(token, True),
            told(token, None),
            {"jsonrpc": "2.0", "method": "notifications/progress"},
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": []},
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": token}},
            told(token, 1) | {"method": "notifications/cancelled"},
        ]
        for message in wrong:
            await send(message)
        await send(told(token, 5, total="x", message=["y"], more={"z": 1}))
        await send(told(token, 6, message="m" * 5000))

    async with fake(era, work).served() as url, house([{"slug": "a", "url": url}]) as h:
        *said, last = await lines(h, call_of())
        assert said == [
            {"progress": {"progress": 5}},
            {"progress": {"progress": 6, "message": "m" * 1000}},
        ]
        assert last["result"]["structuredContent"] == {"n": 7}


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400])
async def test_a_number_that_no_reader_takes_is_left_out(number: str) -> None:
    async def work(token: Any, send: Any) -> None:
        await send(told(token, 0.5))

    async def answer(request: web.Request, message: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        token = message["params"]["_meta"]["progressToken"]
        said = json.dumps(told(token, 0)).replace('"progress": 0', f'"progress": {number}')
        end = {"jsonrpc": "2.0", "id": message["id"], "result": DONE}
        await response.write(f"data: {said}\n\ndata: {json.dumps(end)}\n\n".encode())
        return response

    async with modern_fake([GO], answer).served() as url, house([{"slug": "a", "url": url}]) as h:
        assert await lines(h, call_of()) == [{"result": DONE}]


@both_eras
async def test_a_caller_who_takes_no_lines_asks_for_no_progress(era: str) -> None:
    async def work(token: Any, send: Any) -> None:
        await send(told(token, 1))

    server = fake(era, work)
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        status, answer = await h.ask("a", call_of(_meta={"progressToken": "x"}))
        assert (status, answer["result"]["structuredContent"]) == (200, {"n": 7})
        assert tokens(server) == [None]


async def test_what_says_nothing_before_its_end_is_answered_as_ever() -> None:
    async def work(_: Any, __: Any) -> None:
        return

    async with fake("modern", work).served() as url, house([{"slug": "a", "url": url}]) as h:
        async with calling(h, call_of()) as response:
            assert response.content_type == "application/json"
            assert await response.json() == {"result": DONE}
        async with calling(h, call_of("nothing")) as response:
            assert (await response.json())["error"]["message"] == "Unknown tool: nothing"
        async with calling(h, call_of() | {"page": 7}) as response:
            assert (response.status, response.content_type) == (400, "application/problem+json")


async def _steady(token: Any, send: Any, seconds: float) -> None:
    for number in range(int(seconds / 0.25)):
        await send(told(token, number))
        await asyncio.sleep(0.25)


async def test_a_server_that_reports_has_longer_than_its_timeout() -> None:
    async def work(token: Any, send: Any) -> None:
        await _steady(token, send, 2)

    async def one(era: str) -> None:
        async with (
            fake(era, work).served() as url,
            house([{"slug": "a", "url": url, "timeout": 1}]) as h,
        ):
            told_of, not_told_of = await asyncio.gather(lines(h, call_of()), h.ask("a", call_of()))
            assert told_of[-1]["result"]["structuredContent"] == {"n": 7}, era
            status, problem = not_told_of
            assert (status, problem["type"]) == (504, "urn:strad:problem:upstream-timeout"), era

    await asyncio.gather(*map(one, ERAS))  # each only waits


async def test_a_server_that_falls_silent_has_its_timeout_and_no_more() -> None:
    async def work(token: Any, send: Any) -> None:
        await send(told(token, 1))
        await asyncio.sleep(10)

    async def one(era: str) -> None:
        async with (
            fake(era, work).served() as url,
            house([{"slug": "a", "url": url, "timeout": 1}]) as h,
        ):
            async with asyncio.timeout(3):
                said, last = await lines(h, call_of())
            assert said == {"progress": {"progress": 1}}, era
            assert last["problem"]["type"] == "urn:strad:problem:upstream-timeout", era
            assert last["problem"]["status"] == 504, era

    await asyncio.gather(*map(one, ERAS))  # each only waits


async def test_no_progress_keeps_a_call_open_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Server, "longest", 2)

    async def one(era: str) -> None:
        gone = asyncio.Event()

        async def work(token: Any, send: Any) -> None:
            try:
                await _steady(token, send, 30)
            finally:
                gone.set()

        async with (
            fake(era, work).served() as url,
            house([{"slug": "a", "url": url, "timeout": 1}]) as h,
        ):
            async with asyncio.timeout(4):
                last = (await lines(h, call_of()))[-1]
            assert last["problem"]["type"] == "urn:strad:problem:upstream-timeout", era
            assert "2 s" in last["problem"]["detail"], era
            if era == "modern":  # an older server hears of it by a message
                async with asyncio.timeout(5):
                    await gone.wait()

    await asyncio.gather(*map(one, ERAS))  # each only waits


def test_the_longest_that_a_call_may_take_is_bounded() -> None:
    def longest(timeout: Any) -> int:
        given = {"slug": "a", "name": "A", "url": "http://127.0.0.1:1/mcp", "access": {}}
        return Server.model_validate(given | {"timeout": timeout}).longest

    assert [longest(t) for t in (1, 60, "10m", "2h")] == [10, 600, 3600, 7200]


async def test_a_flood_of_progress_is_thinned_and_the_result_still_comes() -> None:
    async def work(token: Any, send: Any) -> None:
        for number in range(5000):
            await send(told(token, number))

    async with fake("modern", work).served() as url, house([{"slug": "a", "url": url}]) as h:
        async with asyncio.timeout(5):
            *said, last = await lines(h, call_of())
        assert 20 <= len(said) < 200
        assert "result" in last


@both_eras
async def test_a_call_at_work_ends_with_the_session_that_made_it(era: str) -> None:
    async def work(token: Any, send: Any) -> None:
        await _steady(token, send, 10)

    async with fake(era, work).served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await h.session("ada")
        async with calling(h, call_of(), session=session) as response:
            await response.content.readline()
            await SessionWriter(h.store, h.settings.base.seal, h.clock).end(session)
            async with asyncio.timeout(2):
                last = json.loads((await response.text()).splitlines()[-1])
        assert last["problem"]["type"] == "urn:strad:problem:sign-in-needed"
