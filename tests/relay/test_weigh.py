"""Little JSON, much memory: what a few bytes would become is counted before they are read."""

import json
import time
from typing import Any

import pytest
from aiohttp import web

from services.relay.callers.inbound import MAX_BODY_BYTES
from services.relay.messages.weigh import MAX_PARTS, is_too_heavy
from services.relay.servers.failures import MAX_ANSWER_BYTES
from tests.relay.house import house
from tests.relay.upstreams import modern_fake

BOMBS = [b"[],", b"{},", b'{"a":0},', b'"ab",', b"1,", b'"ab":1,', b"[" * 9 + b"]" * 9 + b","]


@pytest.mark.parametrize("part", BOMBS)
def test_many_parts_are_too_heavy_whatever_they_are(part: bytes) -> None:
    assert is_too_heavy(b"[" + part * (MAX_ANSWER_BYTES // len(part)) + b"0]")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"rows": [[n, "x", 0.5] for n in range(60_000)]}),
        json.dumps({"text": ',[{"' * 2_000_000}),
        json.dumps({"text": "\\" * 4_000_000}),
        json.dumps([["a,b", {"c": [1]}]] * 50_000),
    ],
)
def test_what_servers_do_send_is_not(text: str) -> None:
    assert not is_too_heavy(text.encode())


@pytest.mark.parametrize("text", [b'"' * MAX_ANSWER_BYTES, b'"' + b"\\" * MAX_ANSWER_BYTES])
def test_counting_itself_takes_no_long_time(text: bytes) -> None:
    started = time.process_time()
    is_too_heavy(text)
    assert time.process_time() - started < 5


async def test_a_server_cannot_fill_the_relays_memory_with_small_bytes() -> None:
    def bomb(_: Any, message: dict[str, Any]) -> web.Response:
        head = b'{"jsonrpc":"2.0","id":%d,"result":{"tools":[' % message["id"]
        body = head + b"[]," * (MAX_ANSWER_BYTES // 3 - 100) + b"0]}}"
        return web.Response(body=body, content_type="application/json")

    fake = modern_fake([], bomb)
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        for path in ("/mcp/x", "/mcp"):
            params = {"name": "go" if path == "/mcp/x" else "x__go"}
            status, body = await h.modern(path, "tools/call", params)
            assert (status, body["error"]["data"]["kind"]) == (502, "upstream-too-large")


async def test_a_caller_cannot_either() -> None:
    async with house([{"slug": "x", "url": "http://127.0.0.1:9/mcp"}]) as h:
        start = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":['
        body = start + b"[]," * (MAX_BODY_BYTES // 3 - 100) + b"0]}}}"
        status, answer = await h.send("/mcp/x", body)
        assert (status, answer["error"]["code"]) == (400, -32700)
        assert str(MAX_PARTS) in answer["error"]["message"]
