"""Progress for MCP clients: of either version, on either view, from a server of either version."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from tests.relay.house import House, house
from tests.relay.test_progress import (
    ERAS,
    both_eras,
    fake,
    streaming,
    tokens,
    told,
    working_server,
)
from tests.relay.upstreams import Fake, LegacyFake, modern_fake, sdk_app, served

both_modes = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
each_path = pytest.mark.parametrize(
    ("path", "tool"), [("/mcp/a", "steps"), ("/mcp", "a__steps")], ids=["one", "merged"]
)


@both_modes
@both_eras
@each_path
async def test_a_client_hears_how_far_its_call_is(
    mode: str, era: str, path: str, tool: str
) -> None:
    heard: list[Any] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with (
        served(sdk_app(working_server(), era)) as url,
        house([{"slug": "a", "url": url}]) as h,
        h.client(path, mode) as client,
    ):
        result: Any = await client.call_tool(tool, {}, progress_callback=progress)
        assert result.content[0].text == "done"
        assert heard == [(n, 3, f"step {n}") for n in range(3)]


async def _events(h: House, path: str, name: str, meta: Any) -> list[Any]:
    """All messages of the answer to one call."""
    status, text = await h.modern(path, "tools/call", {"name": name, "_meta": meta})
    assert status == 200
    if not isinstance(text, str):
        return [text]
    data = [line for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in data]


@pytest.mark.parametrize(("path", "name"), [("/mcp/a", "go"), ("/mcp", "a__go")])
async def test_across_versions_and_in_the_merged_view_the_token_stays_here(
    path: str, name: str
) -> None:
    async def work(token: Any, send: Any) -> None:
        await send(told("mine", 1))
        await send(told(token, 2))

    server = fake("legacy", work)
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        *said, last = await _events(h, path, name, {"progressToken": "mine"})
        assert [one["params"] for one in said] == [{"progress": 2, "progressToken": "mine"}]
        assert (last["id"], last["result"]["structuredContent"]) == (7, {"n": 7})
        (only,) = await _events(h, path, name, {})
        assert only["result"]["structuredContent"] == {"n": 7}
        first, second = tokens(server)
        assert first not in {"mine", None}
        assert second is None


async def test_a_server_that_reports_has_longer_and_one_that_falls_silent_has_not() -> None:
    async def one(era: str, path: str, name: str) -> None:
        silent = False

        async def work(token: Any, send: Any) -> None:
            for number in range(6):
                await send(told(token, number))
                await asyncio.sleep(0.3)
                if silent:
                    await asyncio.sleep(10)

        async with (
            fake(era, work).served() as url,
            house([{"slug": "a", "url": url, "timeout": 1}]) as h,
        ):
            messages = await _events(h, path, name, {"progressToken": 1})
            assert messages[-1]["result"]["structuredContent"] == {"n": 7}, (era, path)
            assert len(messages) == 7, (era, path)
            silent = True
            async with asyncio.timeout(3):
                *_, last = await _events(h, path, name, {"progressToken": 1})
            assert last["id"] == 7, (era, path)
            assert last["error"]["data"]["kind"] == "upstream-timeout", (era, path)

    # each only waits: all of them at once
    ways = [("/mcp/a", "go"), ("/mcp", "a__go")]
    await asyncio.gather(*(one(era, *way) for era in ERAS for way in ways))


async def test_a_call_at_work_ends_with_the_token_that_made_it() -> None:
    began = asyncio.Event()

    async def work(token: Any, send: Any) -> None:
        for number in range(40):
            await send(told(token, number))
            began.set()
            await asyncio.sleep(0.25)

    async with fake("legacy", work).served() as url, house([{"slug": "a", "url": url}]) as h:
        task = asyncio.create_task(_events(h, "/mcp/a", "go", {"progressToken": 1}))
        await asyncio.wait_for(began.wait(), 5)
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        async with asyncio.timeout(2):
            *_, last = await task
        assert last["error"]["data"]["kind"] == "forbidden"


@both_eras
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/get", {"name": "a__go"}),
        ("resources/read", {"uri": "strad+a:books://x"}),
    ],
)
async def test_a_prompt_and_a_read_of_the_merged_view_report_to_their_caller_only(
    era: str, method: str, params: dict[str, Any]
) -> None:
    async def work(token: Any, send: Any) -> None:
        await send(told("mine", 1))
        await send(told(token, 2))

    stream = streaming(work)

    class Legacy(LegacyFake):
        def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
            asked = message.get("method") == method
            return stream(request, message) if asked else super()._reply(request, message)

    server = Legacy() if era == "legacy" else modern_fake(**{method: stream})
    async with (
        server.served() as url,
        Fake(lambda *_: {"error": {"code": -32601, "message": "no"}}).served() as other,
        house([{"slug": "a", "url": url}, {"slug": "b", "url": other}]) as h,
    ):
        status, text = await h.modern("/mcp", method, params | {"_meta": {"progressToken": "mine"}})
        assert status == 200
        data = [line for line in text.splitlines() if line.startswith("data: ")]
        said, last = [json.loads(line.removeprefix("data: ")) for line in data]
        assert said["params"] == {"progress": 2, "progressToken": "mine"}
        assert (last["id"], last["result"]["resultType"]) == (7, "complete")
