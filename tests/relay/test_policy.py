"""The operator's `tools:` policy: on lists and on calls, in every pair of versions."""

import json
from typing import Any

import pytest
from aiohttp import web
from mcp.shared.exceptions import MCPError

from tests.relay.house import House, house
from tests.relay.old_caller import event_id
from tests.relay.upstreams import Fake, modern_fake, sdk_app, served, toy_server

POLICY = {"deny": ["del*"]}
MODES = ("legacy", "2026-07-28")
ERAS = ("legacy", "modern", "both")
DONE = {"resultType": "complete", "content": []}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("era", ERAS)
async def test_a_denied_tool_is_not_listed_and_not_called(mode: str, era: str) -> None:
    async with (
        served(sdk_app(toy_server(), era)) as url,
        house([{"slug": "a", "url": url, "tools": POLICY}]) as h,
    ):
        for path, prefix in (("/mcp/a", ""), ("/mcp", "a__")):
            async with h.client(path, mode) as client:
                listed = {tool.name for tool in (await client.list_tools()).tools}
                assert prefix + "echo" in listed
                assert prefix + "delete" not in listed
                said = await client.call_tool(prefix + "echo", {"text": "x"})
                assert said.is_error is not True
                for name in (prefix + "delete", prefix + "nothing"):
                    with pytest.raises(MCPError, match=f"Unknown tool: {name}") as caught:
                        await client.call_tool(name, {"item": "x"})
                    assert caught.value.error.code == -32602


async def _legacy(h: House, path: str, message: dict[str, Any]) -> tuple[int, Any]:
    """One request in a session of its own."""
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    headers = await h.bearer() | {"Accept": "application/json, text/event-stream"}
    async with h.http.post(h.url + path, json=begin, headers=headers) as response:
        session = response.headers["Mcp-Session-Id"]
    return await h.send(path, message, headers={"Mcp-Session-Id": session})


@pytest.mark.parametrize("era", ERAS)
async def test_denied_is_the_same_answer_as_unknown_and_nothing_is_sent(era: str) -> None:
    async with (
        served(sdk_app(toy_server(), era)) as url,
        house([{"slug": "a", "url": url, "tools": POLICY}]) as h,
    ):
        for path, prefix in (("/mcp/a", ""), ("/mcp?servers=a", ""), ("/mcp", "a__")):
            for ask in ("modern", "legacy"):
                answers = []
                for tool in ("delete", "nothing", "dele🧸te"):
                    name = prefix + tool
                    if ask == "modern":
                        status, body = await h.modern(path, "tools/call", {"name": name})
                    else:
                        message = {
                            "jsonrpc": "2.0",
                            "id": 7,
                            "method": "tools/call",
                            "params": {"name": name},
                        }
                        status, body = await _legacy(h, path, message)
                    text = body["error"].pop("message")
                    assert text == f"Unknown tool: {name}"
                    answers.append((status, json.dumps(body)))
                assert len(set(answers)) == 1, answers
                assert answers[0][0] == (400 if ask == "modern" else 200)


async def test_a_denied_call_never_reaches_the_server() -> None:
    fake = modern_fake([{"name": "ok", "inputSchema": {}}, {"name": "del", "inputSchema": {}}])
    async with (
        fake.served() as url,
        house([{"slug": "a", "url": url, "tools": POLICY}]) as h,
    ):
        for path, name in (("/mcp/a", "del"), ("/mcp", "a__del")):
            await h.modern(path, "tools/call", {"name": name})
        assert "tools/call" not in fake.methods


async def test_only_allowed_tools_exist_when_the_operator_names_them() -> None:
    tools: list[dict[str, Any]]
    tools = [{"name": name, "inputSchema": {}} for name in ("read", "read_all", "write")]
    policy = {"allow": ["read*"], "deny": ["*_all"]}
    async with (
        modern_fake(tools, lambda *_: {"result": DONE}).served() as url,
        house([{"slug": "a", "url": url, "tools": policy}]) as h,
    ):
        _, body = await h.modern("/mcp/a", "tools/list")
        assert [tool["name"] for tool in body["result"]["tools"]] == ["read"]
        assert (await h.modern("/mcp/a", "tools/call", {"name": "read"}))[0] == 200
        for name in ("write", "read_all", "READ"):
            assert (await h.modern("/mcp/a", "tools/call", {"name": name}))[0] == 400


async def test_without_a_policy_a_listing_passes_to_the_byte() -> None:
    text = (
        b'{ "jsonrpc":"2.0", "id":7,"result":{"tools":[{"name":"x","inputSchema":{"$defs":'
        b'{"\\u0061":{"$anchor":"q"}}},"_meta":{"ui":{"resourceUri":"ui://x/y","z":1e2},"vendor/x":'
        b'{"a":1.0}},"execution":{"new":true}}],"resultType":"complete","ttlMs":5,'
        b'"cacheScope":"public","_meta":{"v":[ 1 ]},"other":"\xc3\xbc"} }'
    )
    fake = modern_fake(lambda _: {})
    answer = fake._answer

    def raw(request: Any, message: Any) -> Any:
        if message["method"] == "tools/list":
            return web.Response(body=text, content_type="application/json")
        return answer(request, message)

    fake._answer = raw
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        headers = {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/list",
            "Accept": "*/*",
            "Content-Type": "application/json",
        }
        sent = (
            b'{"jsonrpc":"2.0", "id":7,"method":"tools/list","params":{"_meta":{"io.modelcontext'
            b'protocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities"'
            b':{"vendor/y":{"b":2.50}}},"extra":[]}}'
        )
        headers |= await h.bearer()
        async with h.http.post(h.url + "/mcp/a", data=sent, headers=headers) as response:
            assert await response.read() == text
        assert fake.messages[-1]["params"]["extra"] == []
        assert await fake.seen[-1].read() == sent


async def test_a_listing_that_returns_in_another_stream_is_filtered_there_too() -> None:
    listed = {"jsonrpc": "2.0", "id": 3, "result": {"tools": [{"name": "del"}, {"name": "ok"}]}}

    async def answer(request: web.Request, message: Any) -> Any:
        if request.method == "GET":
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            data = json.dumps(listed).encode()
            await response.write(b"id: 1\r\ndata: " + data + b"\r\n\r\n")
            return response
        if message["method"] == "initialize":
            result = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "serverInfo": {"name": "f", "version": "1"},
            }
            reply = web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})
            reply.headers["Mcp-Session-Id"] = "s"
            return reply
        return web.Response(status=202)

    fake = Fake(answer)
    async with (
        fake.served() as url,
        house([{"slug": "a", "url": url, "tools": POLICY}]) as h,
    ):
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
        begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        headers = await h.bearer() | {"Accept": "application/json, text/event-stream"}
        async with h.http.post(h.url + "/mcp/a", json=begin, headers=headers) as response:
            headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
        headers["Last-Event-ID"] = event_id(h, headers["Mcp-Session-Id"], "0")
        async with h.http.get(h.url + "/mcp/a", headers=headers) as response:
            text = await response.text()
        assert fake.seen[-1].headers["Last-Event-ID"] == "0"
        assert fake.seen[-1].headers["Mcp-Session-Id"] == "s"
        assert '"ok"' in text
        assert '"del"' not in text
        assert text.startswith(f"id: {event_id(h, headers['Mcp-Session-Id'], '1')}\n")


async def test_a_tool_added_a_moment_ago_can_be_called_under_a_policy() -> None:
    tools: list[dict[str, Any]] = []
    fake = modern_fake(lambda _: {"tools": tools}, lambda *_: {"result": DONE})
    async with (
        fake.served() as url,
        house([{"slug": "a", "url": url, "tools": POLICY}]) as h,
    ):
        assert (await h.modern("/mcp/a", "tools/call", {"name": "new"}))[0] == 400
        tools.append({"name": "new", "inputSchema": {}})
        h.clock.offset += 1.5
        assert (await h.modern("/mcp/a", "tools/call", {"name": "new"}))[0] == 200


async def test_a_call_hidden_behind_a_second_name_is_refused() -> None:
    fake = modern_fake([{"name": "ok", "inputSchema": {}}], lambda *_: {"result": DONE})
    async with (
        fake.served() as url,
        house([{"slug": "a", "url": url, "tools": POLICY}]) as h,
    ):
        meta = (
            '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
            '"io.modelcontextprotocol/clientCapabilities":{}}'
        )
        headers = {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "ok",
        }
        for members in (
            '"name":"del","name":"ok"',
            '"name":"ok","Name":"del"',
            '"NAME":"del","name":"ok"',
        ):
            raw = (
                '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{'
                + members
                + ","
                + meta
                + "}}"
            )
            status, _ = await h.send("/mcp/a", raw.encode(), headers=headers)
            assert status == 400
        assert "tools/call" not in fake.methods
        # and what only this caller knows is nobody's second name
        raw = raw.replace('"NAME":"del"', '"named":"del"')
        assert (await h.send("/mcp/a", raw.encode(), headers=headers))[0] == 200
