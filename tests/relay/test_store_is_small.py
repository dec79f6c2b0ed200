"""Redis is small, and when it is full nobody gets in: what one caller or server can put there."""

from typing import Any

import pytest
from aiohttp import web

from services.relay.callers.sessions import IDLE_SECONDS
from services.relay.servers.pool import MAX_RESULT_BYTES
from shared import keys
from shared.stores.memory import MemoryKeyValue
from tests.relay.house import House, house
from tests.relay.upstreams import LegacyFake, modern_fake

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


async def _begin(h: House, name: str, size: int = 0) -> str:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"experimental": {"x": {"y": "z" * size}}},
        "clientInfo": {"name": "t", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    sent = await h.bearer(name) | {"Accept": "application/json, text/event-stream"}
    async with h.http.post(h.url + "/mcp", json=body, headers=sent) as response:
        assert response.status == 200
        return response.headers["Mcp-Session-Id"]


async def _lives(h: House, name: str, session: str) -> bool:
    body = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    status, _ = await h.send("/mcp", body, name=name, headers={"Mcp-Session-Id": session})
    assert status in {200, 404}
    return status == 200


async def test_one_person_cannot_fill_it_with_sessions_and_the_idlest_end() -> None:
    store = MemoryKeyValue()
    both = {"people": ["ada@strad.test", "bob@strad.test"]}
    async with (
        modern_fake([]).served() as url,
        house(
            [{"slug": "x", "url": url, "access": both}], store=store, limits={"sessions": 4}
        ) as h,
    ):
        store._clock = h.clock
        of_bob = await _begin(h, "bob")
        begun = []
        for _ in range(4):
            begun.append(await _begin(h, "ada", 8000))
            h.clock.offset += 1
        h.clock.offset += 61
        assert await _lives(h, "ada", begun[0])  # in use, so not the idlest
        begun += [await _begin(h, "ada", 8000) for _ in range(2)]
        alive = [await _lives(h, "ada", one) for one in begun]
        assert alive == [True, False, False, True, True, True]
        assert await _lives(h, "bob", of_bob)
        sessions = [k for k in store._values if k.startswith(keys.MCP_SESSION.prefix)]
        # besides, for two seconds, that somebody writes down that one is used
        assert len([k for k in sessions if ":" not in k.removeprefix(keys.MCP_SESSION.prefix)]) == 5
        # one that its client ends makes room
        await h.send("/mcp", {}, verb="DELETE", headers={"Mcp-Session-Id": begun[3]})
        begun.append(await _begin(h, "ada"))
        assert [await _lives(h, "ada", one) for one in begun] == [
            *(True, False, False, False, True, True, True)
        ]


async def test_sessions_that_ended_by_themselves_push_nobody_out() -> None:
    async with (
        modern_fake([]).served() as url,
        house([{"slug": "x", "url": url}], limits={"sessions": 2}) as h,
    ):
        await _begin(h, "ada")
        await _begin(h, "ada")
        h.clock.offset += IDLE_SECONDS + 1
        h.tokens.clear()  # they have ended too
        new = [await _begin(h, "ada"), await _begin(h, "ada")]
        assert [await _lives(h, "ada", one) for one in new] == [True, True]
