"""What callers post, and what is wrong with it, in the order of the specification."""

import json
from typing import Any

import pytest

from services.relay.callers.inbound import MAX_BODY_BYTES
from tests.relay.house import CAPABILITIES, VERSION, house
from tests.relay.upstreams import modern_fake

META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
}
HEADERS = {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": "echo"}


def _call(**changes: Any) -> dict[str, Any]:
    params = {"name": "echo", "arguments": {}, "_meta": META}
    return {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params} | changes


def _raw(**changes: Any) -> bytes:
    return json.dumps(_call(**changes)).encode()


def _params(**changes: Any) -> bytes:
    return _raw(params={"name": "echo", "arguments": {}, "_meta": META} | changes)


NOT_JSON = [b"", b"{", b"{} {}", b"\xff", b"[" * 100_000, b'{"a": NaN}', _raw()[:-1] + b',"id":6}']
NOT_ONE_REQUEST = [
    b"[]",
    b"7",
    b"null",
    b"[" + _raw() + b"]",
    _raw(jsonrpc="1.0"),
    _raw(id=None),
    _raw(id=1.5),
    _raw(id=True),
    _raw(id={}),
    _raw(method=7),
    _raw(params=[]),
    _raw(Method="tools/list"),
    _raw(PARAMS={}),
    _params(Name="delete"),
    _params(ARGUMENTS={}),
    json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode(),
]
WRONG_ENVELOPE = [_raw(params={}), _params(_meta=None), _params(_meta={}), _params(_meta=[])]


async def test_each_fault_of_a_message_has_its_own_code_and_reaches_no_server() -> None:
    fake = modern_fake([])
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        await h.modern("/mcp/x", "tools/list")
        asked = len(fake.messages)
        other = {"io.modelcontextprotocol/protocolVersion": "2027-01-01"}
        table: list[tuple[bytes, dict[str, str], int, int]] = [
            *((raw, {}, 400, -32700) for raw in NOT_JSON),
            *((raw, {}, 400, -32600) for raw in NOT_ONE_REQUEST),
            *((raw, {}, 400, -32602) for raw in WRONG_ENVELOPE),
            (_raw(), {"Mcp-Method": "tools/list"}, 400, -32020),
            (_raw(), {"Mcp-Name": "other"}, 400, -32020),
            (_raw(), {"Mcp-Name": "=?base64?!!?="}, 400, -32020),
            (_raw(), {"MCP-Protocol-Version": "2025-11-25"}, 400, -32020),
            (_params(_meta=META | other), {}, 400, -32020),
            (_params(_meta=META | other), {"MCP-Protocol-Version": "2027-01-01"}, 400, -32022),
            (_params(name=7), {}, 400, -32020),
            (_params(name=None), {}, 400, -32602),
            (_params(name="x" * 3000), {"Mcp-Name": "x" * 3000}, 400, -32602),
            (_raw(), {"Accept": "application/json"}, 406, -32600),
            (_raw(), {"Accept": "text/html"}, 406, -32600),
        ]
        for view in ("/mcp/x", "/mcp"):
            for raw, changed, status, code in table:
                got, body = await h.send(view, raw, headers=HEADERS | changed)
                assert (got, body["error"]["code"]) == (status, code), (raw[:200], changed, body)
                assert body["jsonrpc"] == "2.0"
        assert len(fake.messages) == asked


async def test_an_unsupported_version_is_told_what_is_supported() -> None:
    async with house([]) as h:
        other = {"io.modelcontextprotocol/protocolVersion": "2027-01-01"}
        headers = HEADERS | {"MCP-Protocol-Version": "2027-01-01"}
        _, body = await h.send("/mcp", _params(_meta=META | other), headers=headers)
        assert body["id"] == 5
        assert body["error"]["data"] == {"supported": [VERSION], "requested": "2027-01-01"}
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        status, body = await h.send("/mcp", note, headers=headers)
        assert (status, body["error"]["code"]) == (400, -32022)


async def test_a_repeated_routing_header_is_a_contradiction() -> None:
    async with house([]) as h:
        headers = [*(HEADERS | await h.bearer()).items(), ("Mcp-Name", "echo")]
        headers += [("Accept", "*/*"), ("Content-Type", "application/json")]
        async with h.http.post(h.url + "/mcp", data=_raw(), headers=headers) as response:
            assert response.status == 400
            assert (await response.json())["error"]["code"] == -32020


async def test_a_notification_is_acknowledged_and_goes_nowhere() -> None:
    fake = modern_fake([])
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        for path in ("/mcp", "/mcp/x"):
            assert await h.send(path, note, headers={"MCP-Protocol-Version": VERSION}) == (202, "")
        assert fake.messages == []


@pytest.mark.parametrize("verb", ["GET", "DELETE"])
async def test_only_post_exists_for_a_modern_caller(verb: str) -> None:
    async with house([]) as h:
        headers = await h.bearer() | {"MCP-Protocol-Version": VERSION}
        async with h.http.request(verb, h.url + "/mcp", headers=headers) as response:
            assert response.status == 405
            assert response.headers["Allow"] == "POST"


async def test_a_body_that_is_too_large_names_the_limit_and_reaches_no_server() -> None:
    fake = modern_fake([])
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        big = _params(arguments={"text": "x" * MAX_BODY_BYTES})
        status, body = await h.send("/mcp/x", big, headers=HEADERS)
        assert status == 413
        assert "4 MiB" in body["error"]["message"]
        assert fake.messages == []


async def test_anything_but_json_is_refused() -> None:
    async with house([]) as h:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            headers = HEADERS | {"Content-Type": kind}
            status, body = await h.send("/mcp", _raw(), headers=headers)
            assert (status, body["error"]["data"]["kind"]) == (415, "unsupported-media-type")


async def test_a_name_that_no_header_can_carry_is_no_tool() -> None:
    async with house([]) as h:
        raw = _params(name="x").replace(b'"name": "x"', b'"name": "\\ud800"')
        status, body = await h.send("/mcp", raw, headers=HEADERS | {"Mcp-Name": "x"})
        assert (status, body["error"]["code"]) == (400, -32020)


async def test_a_server_list_that_cannot_be_read_is_said_to_be_so() -> None:
    async with house([]) as h:
        for query in ("servers=", "servers=a,", "servers=,", "servers=a,,b"):
            status, body = await h.modern(f"/mcp?{query}", "tools/list")
            assert (status, body["error"]["data"]["kind"]) == (400, "bad-request")


async def test_odd_tool_names_arrive_as_they_are_or_not_at_all() -> None:
    heard: list[str] = []

    def call(_: Any, message: Any) -> Any:
        heard.append(message["params"]["name"])
        return {"result": {"resultType": "complete", "content": []}}

    names = ["a/b", "a.b", "a__b", "ünï", "a b", " a", "a\x00b", "a\nb", "=?base64?eA==?=", "🧸"]
    async with modern_fake([], call).served() as url, house([{"slug": "x", "url": url}]) as h:
        for name in names:
            status, body = await h.modern("/mcp/x", "tools/call", {"name": name})
            assert status == 200, (name, body)
        assert heard == names
        for name in [*names, "x" * 2000, "x__" + "y" * 500]:
            status, body = await h.modern("/mcp", "tools/call", {"name": name})
            assert (status, body["error"]["code"]) == (400, -32602), name
        assert heard == names
