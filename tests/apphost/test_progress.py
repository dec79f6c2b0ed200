"""What a page's call says on its way, as the host's script hears it; and how it is cancelled."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from shared.web.lines import LINES_TYPE
from tests.apphost.console import Console, Reply
from tests.apphost.pair import CALL, pair
from tests.relay.test_cancel import SOON, Cancelled
from tests.relay.test_progress import DONE, both_eras, fake, tokens, told

TOYS = {"name": "show", "arguments": {}, "page": "ui://t/page", "surface": "app"}


async def _lines(console: Console, cookie: str) -> Reply:
    return await console.call(cookie, TOYS, Accept=LINES_TYPE)


def _said(*lines: Any, status: int = 200) -> Callable[[], web.Response]:
    body = b"".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines
    )
    return lambda: web.Response(body=body, content_type=LINES_TYPE, status=status)


@both_eras
async def test_a_call_tells_how_far_it_is_and_then_its_result(era: str) -> None:
    go_on = asyncio.Event()

    async def work(token: Any, send: Any) -> None:
        await send(told(token, 1, total=2, message="half"))
        await go_on.wait()

    async with (
        fake(era, work).served() as url,
        pair([{"slug": "a", "url": url}]) as p,
        p.calling() as response,
    ):
        assert response.content_type == LINES_TYPE
        async with asyncio.timeout(5):
            first = json.loads(await response.content.readline())
        assert first == {"progress": {"progress": 1, "total": 2, "message": "half"}}
        go_on.set()
        last = json.loads(await response.content.readline())
        assert last["result"]["structuredContent"] == {"n": 7}
        assert response.headers["Cache-Control"] == "no-store"


@both_eras
async def test_a_script_that_takes_no_lines_gets_none_and_no_progress_is_asked_for(
    era: str,
) -> None:
    async def work(token: Any, send: Any) -> None:
        await send(told(token, 1))

    server = fake(era, work)
    async with (
        server.served() as url,
        pair([{"slug": "a", "url": url}]) as p,
        p.calling(accept="*/*") as response,
    ):
        assert response.content_type == "application/json"
        assert (await response.json())["result"]["structuredContent"] == {"n": 7}
        assert tokens(server) == [None]


@both_eras
@pytest.mark.parametrize("reports", [True, False])
@pytest.mark.parametrize("accept", [LINES_TYPE, "*/*"])
async def test_a_script_that_leaves_cancels_the_call_at_its_server(
    era: str, reports: bool, accept: str
) -> None:
    call = Cancelled(era, reports=reports)
    async with (
        call.server.served() as url,
        pair([{"slug": "a", "url": url, "timeout": 20}]) as p,
    ):

        async def ask() -> None:
            async with p.calling(accept=accept) as response:
                await response.read()

        task = asyncio.create_task(ask())
        await asyncio.wait_for(call.began.wait(), 5)
        task.cancel()
        assert await call.took() < SOON


async def test_a_call_that_reports_has_longer_than_its_servers_timeout() -> None:
    async def work(token: Any, send: Any) -> None:
        for number in range(8):
            await send(told(token, number))
            await asyncio.sleep(0.25)

    async with (
        fake("modern", work).served() as url,
        pair([{"slug": "a", "url": url, "timeout": 1}]) as p,
    ):
        async with p.calling() as response:
            last = (await response.text()).splitlines()[-1]
            assert json.loads(last)["result"]["structuredContent"] == {"n": 7}
        async with p.calling(accept="*/*") as response:
            assert response.status == 504


async def test_a_refusal_before_any_progress_keeps_its_status() -> None:
    async with pair([{"slug": "a", "url": "http://127.0.0.1:9/mcp"}]) as p:
        async with p.calling(slug="other") as response:
            assert (response.status, response.content_type) == (404, "application/problem+json")
        async with p.calling() as response:
            assert (response.status, response.content_type) == (502, "application/problem+json")


async def test_a_problem_after_some_progress_is_the_last_line(console: Console, ada: str) -> None:
    problem = {"type": "urn:strad:problem:upstream-timeout", "title": "Too slow.", "detail": "Wait"}
    console.relay.raw = _said({"progress": {"progress": 1}}, {"problem": problem | {"status": 504}})
    answer = await _lines(console, ada)
    assert (answer.status, answer.headers["Content-Type"]) == (200, LINES_TYPE)
    first, last = map(json.loads, answer.text.splitlines())
    assert first == {"progress": {"progress": 1}}
    request_id = last["problem"].pop("request_id")
    assert request_id
    assert last == {"problem": problem | {"status": 504}}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [{"progress": {"progress": 1}}],
        [{"progress": {"progress": 1}}, b'{"result": {}'],
        [{"progress": {"progress": 1}}, b"not json\n"],
        [{"progress": [1]}, {"result": {}}],
        [{"progress": {"progress": 1}}, b"[]\n"],
        [{"progress": {"progress": 1}}, {"result": None}],
    ],
)
async def test_an_answer_without_an_end_is_never_a_success(
    console: Console, ada: str, lines: list[Any]
) -> None:
    console.relay.raw = _said(*lines)
    answer = await _lines(console, ada)
    last = json.loads(answer.text.splitlines()[-1])
    problem = last.get("problem", last)
    assert problem["type"] == "urn:strad:problem:relay-unavailable"
    assert (answer.status == 503) == (problem is last)


async def test_an_error_after_progress_goes_on_as_it_is(console: Console, ada: str) -> None:
    error = {"code": -32602, "message": "no such toy", "data": {"a": 1}}
    console.relay.raw = _said({"progress": {"progress": 1}}, {"error": error})
    answer = await _lines(console, ada)
    assert json.loads(answer.text.splitlines()[-1]) == {"error": error}


async def test_a_long_last_line_comes_whole() -> None:
    text = "ü\n" * 1_000_000

    async def work(token: Any, send: Any) -> None:
        await send(told(token, 1))
        await send({"jsonrpc": "2.0", "id": 1, "result": DONE | {"_meta": {"t": text}}})

    async with (
        fake("modern", work).served() as url,
        pair([{"slug": "a", "url": url}]) as p,
        p.calling(CALL) as response,
    ):
        first, last, *rest = (await response.text()).split("\n")
        assert json.loads(first) == {"progress": {"progress": 1}}
        assert json.loads(last)["result"]["_meta"]["t"] == text
        assert rest == [""]
