"""Two relays over one store: any of them answers any request, in turn, without sticky routing."""

import asyncio
from typing import Any

import aiohttp

from tests.relay.house import House, house
from tests.relay.twins import twin
from tests.relay.upstreams import LegacyFake, sdk_app, served, toy_server

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


async def _post(
    h: House, url: str, path: str, message: Any, **headers: str
) -> tuple[int, Any, Any]:
    sent = await h.bearer() | {
        "Accept": "application/json, text/event-stream",
        "Host": h.url.removeprefix("http://"),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    async with (
        aiohttp.ClientSession() as http,
        http.post(url + path, json=message, headers=sent) as response,
    ):
        return response.status, response.headers, await response.text()


async def test_a_session_goes_on_at_another_relay() -> None:
    async with (
        served(sdk_app(toy_server())) as both,
        served(sdk_app(toy_server(), "modern")) as modern,
        house([{"slug": "a", "url": both}, {"slug": "b", "url": modern}]) as h,
        twin(h) as other,
    ):
        for path, tool in (("/mcp/a", "echo"), ("/mcp/b", "echo"), ("/mcp", "b__echo")):
            _, headers, _ = await _post(h, h.url, path, INITIALIZE)
            session = headers["Mcp-Session-Id"]
            params = {"name": tool, "arguments": {"text": "hello"}}
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            for url in (other, h.url, other, h.url):
                status, _, text = await _post(h, url, path, call, Mcp_Session_Id=session)
                assert status == 200
                assert "hello" in text


async def test_relays_share_their_session_with_an_older_server_and_renew_it_for_each_other() -> (
    None
):
    fake = LegacyFake()
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/list"}
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h, twin(h) as other:
        for address in (h.url, other, h.url, other):
            assert (await _post(h, address, "/mcp/a", listing, **headers))[0] == 200
        assert fake.opened == 1
        fake.lose()
        for address in (other, h.url, other, h.url):
            assert (await _post(h, address, "/mcp/a", listing, **headers))[0] == 200
        assert fake.opened == 2


async def test_a_token_revoked_is_refused_by_every_relay_at_once() -> None:
    async with house([]) as h, twin(h) as other:
        for url in (h.url, other):
            assert (await _post(h, url, "/mcp", INITIALIZE))[0] == 200
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        answers = await asyncio.gather(*(_post(h, u, "/mcp", INITIALIZE) for u in (h.url, other)))
        assert [status for status, _, _ in answers] == [401, 401]
