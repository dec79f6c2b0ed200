"""`Mcp-Param-*` for a server that does not know them: the relay compares, as it would."""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from multidict import CIMultiDict

from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller
from tests.relay.upstreams import Fake, LegacyFake, modern_fake

REGION = {"type": "string", "x-mcp-header": "Region"}
COUNT = {"type": "integer", "x-mcp-header": "Count"}
TOOL: dict[str, Any] = {
    "name": "go",
    "inputSchema": {"type": "object", "properties": {"region": REGION, "count": COUNT}},
}
TWICE = ["Mcp-Param-Region", "mcp-param-REGION", "mcp-name", "MCP-Method"]
VIEWS = [("/mcp/a", "go"), ("/mcp", "a__go")]


class Marked(LegacyFake):
    """A server of 2025-11-25 whose tool has marks of 2026-07-28."""

    def __init__(self) -> None:
        super().__init__()
        self.tools = [TOOL]

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        if message.get("method") == "tools/list":
            return {"result": {"tools": self.tools}}
        return super()._reply(request, message)


def modern() -> Fake:
    return modern_fake([TOOL])


async def posted(
    url: str, path: str, headers: list[tuple[str, str]], body: bytes
) -> tuple[int, Any]:
    """The answer to these very lines."""
    at = urlsplit(url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    names = [*headers, ("Content-Length", str(len(body))), ("Connection", "close")]
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in names), "", ""]
    writer.write("\r\n".join(lines).encode() + body)
    head, _, answer = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), json.loads(answer)


async def _call(h: House, path: str, name: str, arguments: Any, **headers: str) -> tuple[int, Any]:
    sent = {f"Mcp-Param-{key.title()}": value for key, value in headers.items()}
    params = {"name": name, "arguments": arguments}
    return await h.modern(path, "tools/call", params, headers=sent)


@pytest.mark.parametrize(("path", "name"), VIEWS)
async def test_a_header_that_contradicts_an_argument_is_refused_before_the_call(
    path: str, name: str
) -> None:
    fake = Marked()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        wrong: list[tuple[Any, dict[str, str]]] = [
            ({"region": "eu"}, {"region": "us"}),
            ({"region": "eu"}, {}),
            ({}, {"region": "eu"}),
            (None, {"region": "eu"}),
            ({"region": "ü"}, {"region": "=?base64?####?="}),
            ({"region": "eu", "count": 4}, {"region": "eu", "count": "5"}),
        ]
        for arguments, headers in wrong:
            status, body = await _call(h, path, name, arguments, **headers)
            assert (status, body["error"]["code"]) == (400, -32020), (arguments, headers)
        assert fake.calls == []
        right: list[tuple[Any, dict[str, str]]] = [
            ({"region": "eu"}, {"region": "eu"}),
            ({"region": "ü"}, {"region": "=?base64?w7w=?="}),
            ({"region": "eu", "count": 42.0}, {"region": "eu", "count": "42"}),
            ({}, {"unknown": "x"}),
            ({"region": None}, {}),
        ]
        for arguments, headers in right:
            assert (await _call(h, path, name, arguments, **headers))[0] == 200, arguments
        assert [call["arguments"] for call in fake.calls] == [a for a, _ in right]


@pytest.mark.parametrize("twice", TWICE)
@pytest.mark.parametrize("kind", [Marked, modern])
@pytest.mark.parametrize(("path", "name"), VIEWS)
async def test_a_header_that_comes_twice_is_refused(
    path: str, name: str, kind: Callable[[], Fake], twice: str
) -> None:
    fake = kind()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": name, "arguments": {"region": "eu"}, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        headers = CIMultiDict(await h.bearer())
        headers.update({"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"})
        headers.update({"Mcp-Name": name, "Accept": "*/*", "Mcp-Param-Region": "eu"})
        headers.update({"Host": urlsplit(h.url).netloc, "Content-Type": "application/json"})
        # on the socket itself: a client library would make one of two that differ in case
        lines = [*headers.items(), (twice, headers[twice])]
        status, body = await posted(h.url, path, lines, json.dumps(message).encode())
        assert (status, body["error"]["code"]) == (400, -32020)
        assert "more than once" in body["error"]["message"]
        assert "tools/call" not in fake.methods


async def test_what_a_server_has_changed_since_is_looked_up_before_a_refusal() -> None:
    fake = Marked()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        assert (await _call(h, "/mcp/a", "go", {"region": "eu"}, region="eu"))[0] == 200
        fake.tools = [{"name": "go", "inputSchema": {"type": "object"}}]
        h.clock.offset += 2
        assert (await _call(h, "/mcp/a", "go", {"region": "eu"}))[0] == 200
        assert fake.methods.count("tools/list") == 2


async def test_an_older_caller_has_no_such_headers_and_needs_none() -> None:
    fake = Marked()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for path, name in VIEWS:
            caller = await OldCaller.begin(h, path)
            answer = (await caller.ask("tools/call", name=name, arguments={"region": "eu"}))[-1]
            assert "result" in answer


@pytest.mark.parametrize("path", ["/mcp/a", "/mcp"])
async def test_the_header_that_names_a_tool_must_name_the_tool_of_the_body(path: str) -> None:
    fake = Marked()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        name = "go" if path == "/mcp/a" else "a__go"
        wrongs: list[dict[str, str]] = [
            {"Mcp-Name": "other"},
            {"Mcp-Method": "tools/list"},
            {"Mcp-Name": ""},
            {"Mcp-Name": "go" if name == "a__go" else "a__go"},
        ]
        for headers in wrongs:
            status, body = await h.modern(path, "tools/call", {"name": name}, headers=headers)
            assert (status, body["error"]["code"]) == (400, -32020), headers
        assert fake.messages == []


async def test_a_server_that_compares_them_itself_gets_them_as_they_are_and_is_asked_once() -> None:
    heard: list[Any] = []

    def call(request: web.Request, message: dict[str, Any]) -> Any:
        heard.append(request.headers.get("Mcp-Param-Region"))
        if heard[-1] != message["params"]["arguments"]["region"]:
            return web.json_response(
                {
                    "jsonrpc": "2.0",
                    "id": message["id"],
                    "error": {"code": -32020, "message": "they differ"},
                },
                status=400,
            )
        return {"result": {"resultType": "complete", "content": []}}

    async with (
        modern_fake([TOOL], call).served() as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        for path, name in VIEWS:
            status, body = await _call(h, path, name, {"region": "eu"}, region="us")
            assert (status, body["error"]["code"]) == (400, -32020)
            assert body["error"]["message"] == "they differ"
            assert (await _call(h, path, name, {"region": "eu"}, region="eu"))[0] == 200
        assert heard == ["us", "eu"] * 2
