"""Redis is small, and when it is full nobody gets in: what one caller or server can put there."""

from typing import Any

import pytest
from aiohttp import web

from services.relay.pool import MAX_RESULT_BYTES
from shared import keys
from shared.stores.memory import MemoryKeyValue
from tests.relay.house import house
from tests.relay.upstreams import LegacyFake

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class Talkative(LegacyFake):
    """Introduces itself at length."""

    def _begin(self, message: dict[str, Any]) -> web.Response:
        reply = super()._begin(message)
        assert isinstance(reply.body, bytes)
        much = b'"instructions":"' + b"x" * MAX_RESULT_BYTES + b'","capabilities"'
        reply.body = reply.body.replace(b'"capabilities"', much)
        return reply


def kept_by_the_pool(store: MemoryKeyValue) -> list[bytes]:
    return [v for k, (v, _) in store._values.items() if k.startswith(f"{keys.UPSTREAM.prefix}sess")]


async def test_a_server_cannot_fill_it_by_introducing_itself() -> None:
    store = MemoryKeyValue()
    async with (
        Talkative().served() as url,
        house([{"slug": "old", "url": url}], store=store) as h,
    ):
        status, body = await h.modern("/mcp/old", "tools/list")
        assert (status, body["error"]["data"]["kind"]) == (502, "upstream-too-large")
        assert kept_by_the_pool(store) == []


async def test_a_caller_cannot_fill_it_by_making_up_capabilities() -> None:
    store, fake = MemoryKeyValue(), LegacyFake()
    async with fake.served() as url, house([{"slug": "old", "url": url}], store=store) as h:
        for number in range(400):
            made_up: dict[str, Any] = {
                "_meta": {CAPABILITIES: {"experimental": {f"x{number}": {}}}}
            }
            status, _ = await h.modern("/mcp/old", "tools/call", {"name": "go"} | made_up)
            assert status == 200
        assert 100 < len(kept_by_the_pool(store)) <= 256


async def test_callers_with_other_capabilities_never_continue_one_session() -> None:
    """A server may offer by capabilities: what was opened with some is not used with others."""
    fake = LegacyFake()
    async with fake.served() as url, house([{"slug": "old", "url": url}]) as h:
        for number in range(40):
            made_up: dict[str, Any] = {
                "_meta": {CAPABILITIES: {"experimental": {f"x{number}": {}}}}
            }
            await h.modern("/mcp/old", "tools/call", {"name": "go"} | made_up)
        said = [m["params"]["capabilities"] for m in fake.messages if m["method"] == "initialize"]
        assert {"experimental": {"x0": {}}} in said
        assert len(said) == len({str(one) for one in said}) == 40


@pytest.mark.parametrize(
    "capabilities",
    [b"[" * 300 + b"]" * 300, b"[" * 900 + b"]" * 900, b'"\\ud800"', b"1e999", b"9" * 4000],
)
async def test_a_caller_that_says_odd_things_of_itself_gets_a_session_like_any_other(
    capabilities: bytes,
) -> None:
    fake = LegacyFake()
    async with fake.served() as url, house([{"slug": "old", "url": url}]) as h:
        body = (
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
            b'"clientInfo":{"name":"t","version":"1"},"capabilities":{"experimental":{"x":%s}}}}'
        )
        for path in ("/mcp", "/mcp/old"):
            status, answer = await h.send(path, body % capabilities)
            assert (status, "result" in answer) == (200, True), answer
