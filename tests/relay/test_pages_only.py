"""Tools for pages only: not there for callers that show no pages, untouched for those that do."""

import json
from typing import Any

import pytest
from aiohttp import web
from mcp.client.extension import advertise
from mcp.shared.exceptions import MCPError

from services.relay.marks import GRACE_SECONDS, KEEP_SECONDS
from services.relay.servers.hello import Hello
from shared.contracts.wire import APP_MIME_TYPE, UI_EXTENSION
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller, message
from tests.relay.upstreams import Fake, LegacyFake, modern_fake, sdk_app, served, toy_server

MODES = ("legacy", "2026-07-28")
ERAS = ("legacy", "modern", "both")
VIEWS = (("/mcp/a", ""), ("/mcp?servers=a", ""), ("/mcp", "a__"))
APPS = advertise(UI_EXTENSION, {"mimeTypes": [APP_MIME_TYPE]})
NO_APPS: dict[str, Any] = {"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}}
DONE = {"resultType": "complete", "content": []}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("era", ERAS)
async def test_a_caller_without_apps_neither_sees_nor_calls_what_is_for_pages_only(
    mode: str, era: str
) -> None:
    async with (
        served(sdk_app(toy_server(), era)) as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        for path, prefix in VIEWS:
            async with h.client(path, mode) as client:
                listed = {tool.name for tool in (await client.list_tools()).tools}
                assert prefix + "show" in listed
                assert prefix + "refresh" not in listed
                for name in (prefix + "refresh", "refresh"):
                    with pytest.raises(MCPError, match=f"Unknown tool: {name}") as caught:
                        await client.call_tool(name, {})
                    assert caught.value.error.code == -32602
                shown = await client.call_tool(prefix + "show", {})
                assert shown.is_error is not True


async def test_a_list_that_is_cut_for_one_caller_is_no_list_for_others() -> None:
    hidden = {"name": "refresh", "_meta": {"ui": {"visibility": ["app"]}}}
    async with modern_fake([{"name": "go"}, hidden]).served() as url:
        policies: list[tuple[dict[str, Any], dict[str, Any], str]] = [
            ({}, NO_APPS, "private"),
            ({}, {}, "public"),
            ({"deny": ["refresh"]}, {}, "private"),
            ({"deny": ["nothing"]}, {}, "public"),
        ]
        for tools, params, scope in policies:
            async with house([{"slug": "a", "url": url, "tools": tools}]) as h:
                _, body = await h.modern("/mcp/a", "tools/list", params)
                assert body["result"]["cacheScope"] == scope, (tools, params)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("era", ERAS)
async def test_a_caller_with_apps_sees_and_calls_them(mode: str, era: str) -> None:
    async with (
        served(sdk_app(toy_server(), era)) as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        for path, prefix in VIEWS:
            async with h.client(path, mode, extensions=[APPS]) as client:
                listed = {tool.name: tool for tool in (await client.list_tools()).tools}
                meta = listed[prefix + "refresh"].meta
                assert meta is not None
                assert meta["ui"]["visibility"] == ["app"]
                result = await client.call_tool(prefix + "refresh", {})
                assert result.content[0].text == "refreshed"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("visibility", "hidden"),
    [
        (["app"], True),
        ([], True),
        (["other"], True),
        (["app", "model"], False),
        (["model"], False),
        ("app", False),
        (None, False),
    ],
)
async def test_hidden_is_what_says_in_so_many_words_that_it_is_not_for_models(
    visibility: Any, hidden: bool
) -> None:
    tools = [{"name": "go", "inputSchema": {}, "_meta": {"ui": {"visibility": visibility}}}]
    fake = modern_fake(tools, lambda *_: {"result": DONE})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for path, name in (("/mcp/a", "go"), ("/mcp", "a__go")):
            _, body = await h.modern(path, "tools/list", NO_APPS)
            assert (body["result"]["tools"] == []) is hidden
            status, _ = await h.modern(path, "tools/call", {"name": name} | NO_APPS)
            assert status == (400 if hidden else 200)
            _, body = await h.modern(path, "tools/list")
            assert len(body["result"]["tools"]) == 1
            assert (await h.modern(path, "tools/call", {"name": name}))[0] == 200


@pytest.mark.parametrize(
    ("capabilities", "speaks"),
    [
        ({"extensions": {UI_EXTENSION: {"mimeTypes": [APP_MIME_TYPE, "x/y"]}}}, True),
        ({"extensions": {UI_EXTENSION: {"mimeTypes": ["text/html"]}}}, False),
        ({"extensions": {UI_EXTENSION: {"mimeTypes": APP_MIME_TYPE}}}, False),
        ({"extensions": {UI_EXTENSION: {}}}, False),
        ({"extensions": {UI_EXTENSION: None}}, False),
        ({"extensions": [UI_EXTENSION]}, False),
        ({"experimental": {UI_EXTENSION: {"mimeTypes": [APP_MIME_TYPE]}}}, False),
        ({}, False),
    ],
)
def test_apps_are_spoken_by_those_who_name_the_kind_of_page(
    capabilities: dict[str, Any], speaks: bool
) -> None:
    assert Hello(capabilities).speaks_apps is speaks


async def _raw(h: House, path: str, capabilities: Any) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": meta}}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list", "Accept": "*/*"}
    async with h.http.post(h.url + path, json=body, headers=headers | await h.bearer()) as response:
        return await response.read()


@pytest.mark.parametrize("stream", [False, True])
async def test_a_list_without_such_tools_passes_to_the_byte_for_everybody(stream: bool) -> None:
    plain = '{ "name":"go","inputSchema":{ },"_meta":{"ui":{"visibility":["model","app"]}},"n":1e2}'
    secret = '{"name":"re","_meta":{"ui":{"visibility":["app"]}},"n":1e999}'
    listed = [plain]

    def answer(*_: Any) -> web.Response:
        tools = ",".join(listed)
        text = f'{{ "jsonrpc":"2.0","id":7,"result":{{"tools":[{tools}], "v":2.50}}}}'
        kind = "text/event-stream" if stream else "application/json"
        return web.Response(text=f"data: {text}\n\n" if stream else text, content_type=kind)

    fake = modern_fake(**{"tools/list": answer})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        whole = b'{ "jsonrpc":"2.0","id":7,"result":{"tools":[' + plain.encode() + b'], "v":2.50}}'
        assert await _raw(h, "/mcp/a", {}) == whole
        listed.append(secret)
        assert secret.encode() in await _raw(
            h, "/mcp/a", {"extensions": {UI_EXTENSION: {"mimeTypes": [APP_MIME_TYPE]}}}
        )
        cut = json.loads(await _raw(h, "/mcp/a", {}))
        assert cut["result"] == {"tools": [json.loads(plain)], "v": 2.5}


async def test_a_list_that_comes_back_in_another_stream_is_cut_and_other_events_pass() -> None:
    odd = b": hello\n\ndata: not json\n\n"
    listed = {
        "jsonrpc": "2.0",
        "id": 3,
        "result": {
            "tools": [{"name": "re", "_meta": {"ui": {"visibility": ["app"]}}}, {"name": "go"}]
        },
    }

    class Streaming(LegacyFake):
        def _reply(self, request: web.Request, message: Any) -> Any:
            if request.method == "GET":
                data = odd + b"id: 1\ndata: " + json.dumps(listed).encode() + b"\n\n" + odd
                return web.Response(body=data, content_type="text/event-stream")
            return super()._reply(request, message)

    async with Streaming().served() as url, house([{"slug": "a", "url": url}]) as h:
        both: list[dict[str, Any]] = [
            {},
            {"extensions": {UI_EXTENSION: {"mimeTypes": [APP_MIME_TYPE]}}},
        ]
        for capabilities in both:
            caller = await OldCaller.begin(h, "/mcp/a", **capabilities)
            headers = {"Mcp-Session-Id": caller.session}
            _, text = await h.send("/mcp/a", None, headers=headers, verb="GET")
            assert text.count("not json") == 2
            assert '"go"' in text
            assert ('"re"' in text) is bool(capabilities)


def _counting(tools: list[Any]) -> tuple[Fake, LegacyFake]:
    class Legacy(LegacyFake):
        def _reply(self, request: web.Request, message: Any) -> Any:
            answer = super()._reply(request, message)
            listed = message.get("method") == "tools/list" and isinstance(answer, dict)
            return {"result": {"tools": tools}} if listed else answer

    return modern_fake(lambda _: {"tools": tools}, lambda *_: {"result": DONE}), Legacy()


async def test_calls_list_once_a_minute_and_then_hear_of_what_has_changed() -> None:
    tools: list[Any] = [{"name": "go", "inputSchema": {}}]
    fake, _ = _counting(tools)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for _ in range(3):
            assert (await h.modern("/mcp/a", "tools/call", {"name": "go"} | NO_APPS))[0] == 200
        assert fake.methods.count("tools/list") == 1
        assert (await h.modern("/mcp/a", "tools/call", {"name": "go"}))[0] == 200
        assert fake.methods.count("tools/list") == 1
        tools[0] = tools[0] | {"_meta": {"ui": {"visibility": ["app"]}}}
        h.clock.offset += KEEP_SECONDS
        assert (await h.modern("/mcp/a", "tools/call", {"name": "go"} | NO_APPS))[0] == 400
        assert fake.methods.count("tools/call") == 4


async def test_in_a_session_the_relay_looks_in_that_session_and_opens_no_second_one() -> None:
    tools = [
        {"name": "go", "inputSchema": {}},
        {"name": "re", "inputSchema": {}, "_meta": {"ui": {"visibility": ["app"]}}},
    ]
    _, fake = _counting(tools)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a")
        assert "result" in (await caller.ask("tools/call", name="go"))[-1]
        refused = (await caller.ask("tools/call", name="re"))[-1]
        assert refused["error"]["message"] == "Unknown tool: re"
        assert [call["name"] for call in fake.calls] == ["go"]
        assert fake.opened == 1


@pytest.mark.parametrize("request_id", [5, None])
async def test_a_session_that_is_lost_before_the_look_is_renewed_and_the_call_judged(
    request_id: int | None,
) -> None:
    tools = [
        {"name": "go", "inputSchema": {}},
        {"name": "re", "inputSchema": {}, "_meta": {"ui": {"visibility": ["app"]}}},
    ]
    _, fake = _counting(tools)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a")
        for name in ("re", "go"):
            fake.lose()
            h.clock.offset += KEEP_SECONDS + 1
            async with caller.post(message("tools/call", request_id, name=name)) as response:
                assert response.status in {200, 202}
        assert [call["name"] for call in fake.calls] == (["go"] if request_id else [])
        assert "re" not in str([m for m in fake.messages if m.get("method") == "tools/call"])


async def test_a_server_that_cannot_be_asked_for_its_tools_is_not_called_blindly() -> None:
    fake = modern_fake(lambda _: {"tools": "broken"}, lambda *_: {"result": DONE})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        status, body = await h.modern("/mcp/a", "tools/call", {"name": "go"} | NO_APPS)
        assert (status, body["error"]["data"]["kind"]) == (502, "upstream-malformed")
        assert "tools/call" not in fake.methods
        assert (await h.modern("/mcp/a", "tools/call", {"name": "go"}))[0] == 200


async def test_a_list_that_fails_for_a_while_does_not_stop_calls_and_uncovers_nothing() -> None:
    tools: list[Any] = [
        {"name": "go", "inputSchema": {}},
        {"name": "re", "inputSchema": {}, "_meta": {"ui": {"visibility": ["app"]}}},
    ]
    fails = False

    def listing(*_: Any) -> Any:
        if fails:
            return {"error": {"code": -32603, "message": "not now"}}
        return {"result": {"resultType": "complete", "tools": tools}}

    def call(*_: Any) -> Any:
        return {"result": DONE}

    fake = modern_fake(**{"tools/list": listing, "tools/call": call})

    async def status(h: House, name: str) -> int:
        return (await h.modern("/mcp/a", "tools/call", {"name": name} | NO_APPS))[0]

    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        assert (await status(h, "go"), await status(h, "re")) == (200, 400)
        fails = True
        h.clock.offset += KEEP_SECONDS + 1
        assert (await status(h, "go"), await status(h, "re")) == (200, 400)
        assert fake.methods.count("tools/list") == 2
        h.clock.offset += GRACE_SECONDS
        assert (await status(h, "go"), await status(h, "re")) == (502, 502)
        fails = False
        assert (await status(h, "go"), await status(h, "re")) == (200, 400)


async def test_a_server_that_lists_no_tools_is_called() -> None:
    fake = modern_fake(None, lambda *_: {"result": DONE})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        assert (await h.modern("/mcp/a", "tools/call", {"name": "go"} | NO_APPS))[0] == 200
