"""What each caller has of each server, one version or two: pages, and progress that stays apart."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web

from tests.relay.changing import CAPABILITIES, ChangingLegacy, ChangingModern
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller, message
from tests.relay.test_progress import fake, told

LISTS = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
each_mode = pytest.mark.parametrize("mode", ["old", "new"])
each_era = pytest.mark.parametrize("era", ["legacy", "modern"])


def _page(message: dict[str, Any]) -> dict[str, Any] | None:
    """Three pages of two entries; an empty cursor is one like any other."""
    if message.get("method") not in LISTS:
        return None
    member, key = LISTS[message["method"]]
    cursors: list[str | None] = [None, "", "last"]
    number = cursors.index(message["params"].get("cursor"))
    entries: list[dict[str, Any]] = [{"name": f"n{n}", key: f"x://{number}-{n}"} for n in range(2)]
    if member == "tools":
        entries = [entry | {"inputSchema": {"type": "object"}} for entry in entries]
    following = {"nextCursor": cursors[number + 1]} if number < 2 else {}
    return {member: entries} | following


class PagedLegacy(ChangingLegacy):
    def _in_session(self, session: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        found = _page({"method": method, "params": params})
        return {"result": found} if found else super()._in_session(session, method, params)


class PagedModern(ChangingModern):
    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        found = _page(message)
        if found is None:
            return super()._reply(request, message)
        more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        return {"result": found | more}


async def _asked(h: House, caller: OldCaller | None, method: str, **params: Any) -> Any:
    if caller is not None:
        return (await caller.ask(method, **params))[-1]["result"]
    status, body = await h.modern("/mcp/a", method, params)
    assert status == 200, body
    return body["result"]


@pytest.mark.parametrize(("mode", "era"), [("old", "modern"), ("new", "legacy")])
async def test_across_versions_a_server_is_said_to_do_what_can_be_carried(
    mode: str, era: str
) -> None:
    server = PagedLegacy() if era == "legacy" else PagedModern()
    carried = {**CAPABILITIES, "completions": {}, "logging": {}, "extensions": {"v/x": {}}}
    server.capabilities = {**carried, "tasks": {"cancel": {}}, "vendor": {}}
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        if mode == "new":
            _, body = await h.modern("/mcp/a", "server/discover")
        else:
            params = {"protocolVersion": "2025-11-25", "capabilities": {}}
            begin = message("initialize", 0, **params)
            _, body = await h.send("/mcp/a", begin)
        assert body["result"]["capabilities"] == carried


@each_mode
@pytest.mark.parametrize("path", ["/mcp/a", "/mcp"])
async def test_a_request_must_name_what_it_is_about_in_text_that_can_be_sent(
    mode: str, path: str
) -> None:
    server = PagedModern()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, path) if mode == "old" else None
        asked = len(server.messages)
        named = [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")]
        for method, key in named:
            for params in ({}, {key: None}, {key: 7}, {key: ["x"]}, {key: "x" * 9000}):
                if caller is None:
                    _, body = await h.modern(path, method, params, headers={"Mcp-Name": "x"})
                    codes = {-32602, -32020}  # the header cannot say it either
                else:
                    body = (await caller.ask(method, **params))[-1]
                    codes = {-32602}
                assert body["error"]["code"] in codes, (method, params, body)
        assert len(server.messages) == asked


@each_mode
@each_era
@pytest.mark.parametrize("method", LISTS)
async def test_a_list_comes_page_by_page(mode: str, era: str, method: str) -> None:
    server = PagedLegacy() if era == "legacy" else PagedModern()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a") if mode == "old" else None
        member, key = LISTS[method]
        seen: list[str] = []
        params: dict[str, Any] = {}
        for _ in range(3):
            result = await _asked(h, caller, method, **params)
            seen += [entry[key] for entry in result[member]]
            params = {"cursor": result.get("nextCursor")}
        assert params == {"cursor": None}
        assert seen == [f"x://{page}-{n}" for page in range(3) for n in range(2)]


async def _progress(h: House, caller: OldCaller | None, number: int) -> list[Any]:
    """What one caller hears of its call; all use one token."""
    params = {"name": "go", "arguments": {"n": number}, "_meta": {"progressToken": "same"}}
    if caller is not None:
        messages = await caller.ask("tools/call", number, **params)
    else:
        _, text = await h.modern("/mcp/a", "tools/call", params)
        data = [line[5:] for line in text.splitlines() if line.startswith("data:")]
        messages = [json.loads(line) for line in data]
    assert "result" in messages[-1]
    assert {m["params"]["progressToken"] for m in messages[:-1]} == {"same"}
    return [m["params"]["progress"] for m in messages[:-1]]


@each_mode
@each_era
async def test_callers_with_one_token_hear_of_their_own_calls_only(mode: str, era: str) -> None:
    all_began, began, numbers = asyncio.Event(), 0, iter(range(1, 4))

    async def work(token: Any, send: Any) -> None:
        nonlocal began
        number = next(numbers)
        began += 1
        if began == 3:
            all_began.set()
        await all_began.wait()
        for step in range(3):
            await send(told(token, number * 10 + step))
            await asyncio.sleep(0.01)

    async with fake(era, work).served() as url, house([{"slug": "a", "url": url}]) as h:
        # the server that is made here has one session at a time
        caller = await OldCaller.begin(h, "/mcp/a") if mode == "old" else None
        heard = await asyncio.gather(*(_progress(h, caller, n) for n in range(3)))
        assert sorted(heard) == [[number * 10 + step for step in range(3)] for number in (1, 2, 3)]
