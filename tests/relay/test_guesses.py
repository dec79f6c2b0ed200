"""Who guesses at tokens has to wait, by address; who has one is let in from the same address."""

import asyncio
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import MCPError
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from services.relay.callers.guesses import MOST
from services.relay.callers.limits import WINDOW_SECONDS
from shared.ids import new_token
from shared.stores.redis import connect
from tests.relay.house import House, house
from tests.relay.stuck import PARAMS, Stuck
from tests.relay.test_limits import early
from tests.relay.twins import twin
from tests.relay.upstreams import modern_fake
from tests.shared.valkey import valkey

OFFICE, ELSEWHERE = "203.0.113.5", "203.0.113.6"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
X = [{"slug": "x", "url": "http://127.0.0.1:9/mcp"}]


async def guess(
    h: House, address: str = OFFICE, token: str | None = None, verb: str = "POST"
) -> tuple[int, Any, Any]:
    """One try, as the edge passes it on: status, body, headers."""
    headers = {
        "Authorization": f"Bearer {token or new_token()}",
        "X-Forwarded-For": address,
        "Host": h.config.host,
    }
    async with h.http.request(verb, h.url + "/mcp", json=LIST, headers=headers) as response:
        return response.status, await response.json(), response.headers


async def use_up(h: House, address: str = OFFICE) -> None:
    early(h)
    for _ in range(MOST):
        assert (await guess(h, address))[0] == 401


async def test_an_address_that_guesses_has_to_wait_and_nobody_else() -> None:
    async with house(X) as h:
        await use_up(h)
        for verb in ("POST", "GET", "DELETE"):
            status, body, headers = await guess(h, verb=verb)
            assert (status, headers["Retry-After"]) == (429, str(WINDOW_SECONDS))
            assert "WWW-Authenticate" not in headers  # no client is to sign in again at this
            assert body["error"]["data"]["kind"] == "too-many-requests"
            assert "Too many tokens that are not valid" in body["error"]["message"]
        assert (await guess(h, ELSEWHERE))[0] == 401
        assert "203.0.113" not in repr(vars(h.store))
        h.clock.offset += WINDOW_SECONDS
        assert (await guess(h))[0] == 401


async def test_who_has_a_token_is_let_in_from_the_same_address_all_along() -> None:
    tool = {"name": "go", "inputSchema": {"type": "object"}}
    async with (
        modern_fake([tool]).served() as url,
        house([{"slug": "x", "url": url}]) as h,
        twin(h) as other,
    ):
        await use_up(h)
        assert (await guess(h))[0] == 429
        office = {"X-Forwarded-For": OFFICE, "Host": h.config.host}
        # at a replica that has never seen the token, too
        for one in (h, replace(h, url=other)):
            assert (await one.modern("/mcp/x", "tools/list", headers=office))[0] == 200


@pytest.mark.parametrize("text", ["nonsense", "", "a b c", "x" * 4000])
async def test_what_is_not_even_like_a_token_counts_too(text: str) -> None:
    async with house(X) as h:
        early(h)
        for _ in range(MOST):
            assert (await guess(h, token=text or " "))[0] == 401
        assert (await guess(h))[0] == 429


@pytest.mark.parametrize("text", [b"strad_\xff\xfe", b"\xc3\xa9" * 49, b"a\x80" * 1000])
async def test_bytes_that_are_no_text_are_no_token_and_no_error(text: bytes) -> None:
    async with house(X) as h:
        parts = urlsplit(h.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        head = f"POST /mcp HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n"
        head += "Content-Type: application/json\r\nContent-Length: 2\r\nAuthorization: Bearer "
        writer.write(head.encode() + text + b"\r\n\r\n{}")
        answer = await asyncio.wait_for(reader.read(), 5)
        writer.close()
        assert answer.startswith(b"HTTP/1.1 401 "), answer


async def test_a_request_without_a_token_is_no_guess() -> None:
    """Clients begin like that, to learn where to sign in: any number of an office."""
    async with house(X) as h:
        early(h)
        for _ in range(MOST + 5):
            headers = {"X-Forwarded-For": OFFICE}
            async with h.http.post(h.url + "/mcp", json=LIST, headers=headers) as response:
                assert response.status == 401
                assert "resource_metadata" in response.headers["WWW-Authenticate"]
        assert (await guess(h))[0] == 401


async def test_a_text_of_the_callers_own_does_not_change_where_it_comes_from() -> None:
    async with house(X) as h:
        early(h)
        for number in range(MOST):
            await guess(h, f"198.51.100.{number}, {OFFICE}")
        assert (await guess(h, f"198.51.100.99, {OFFICE}"))[0] == 429


async def test_of_ipv6_the_network_of_one_customer_counts() -> None:
    async with house(X) as h:
        early(h)
        for number in range(MOST):
            await guess(h, f"2001:db8:1:2::{number:x}")
        assert (await guess(h, "2001:db8:1:2:ffff::1"))[0] == 429
        assert (await guess(h, "2001:db8:1:3::1"))[0] == 401


async def test_who_held_a_token_until_now_hears_that_it_has_ended() -> None:
    """A client gets itself a new one at 401, and not at 429."""
    async with house(X) as h:
        token = await h.token()
        assert (await guess(h, token=token))[0] != 401
        await use_up(h)
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        status, _, headers = await guess(h, token=token)
        assert (status, 'error="invalid_token"' in headers["WWW-Authenticate"]) == (401, True)
        assert (await guess(h, token=token))[0] == 429


async def test_a_token_that_ends_while_its_calls_are_at_work_is_no_guess() -> None:
    server = Stuck("modern")
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        await use_up(h)
        office = {"X-Forwarded-For": OFFICE}
        ask = ("/mcp/a", "tools/call", PARAMS["tools/call"])
        tasks = [asyncio.ensure_future(h.modern(*ask, headers=office)) for _ in range(3)]
        async with asyncio.timeout(5):
            while server.methods.count("tools/call") < 3:
                await asyncio.sleep(0.01)
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        assert [one[0] for one in await asyncio.gather(*tasks)] == [403] * 3


async def test_replicas_count_together_and_no_two_guesses_count_as_one(tmp_path: Path) -> None:
    with valkey(tmp_path) as server:
        store = connect(server.url, "tester", "tester")
        async with house(X, store=store) as h, twin(h) as other:
            early(h)
            both = [h, replace(h, url=other)]
            tried = await asyncio.gather(*(guess(one) for one in both * MOST))
            assert Counter(one[0] for one in tried) == {401: MOST, 429: MOST}
            with server.admin() as admin:
                (counter,) = admin.scan_iter("limit:relay:address:*")
                assert 0 < admin.ttl(counter) <= 2 * WINDOW_SECONDS


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_sdks_client_is_told_at_once(mode: str) -> None:
    async with house(X) as h:
        await use_up(h)
        headers = {"Authorization": f"Bearer {new_token()}", "X-Forwarded-For": OFFICE}
        started = time.monotonic()
        with pytest.RaisesGroup(
            pytest.RaisesExc(MCPError, match="Too many tokens"), flatten_subgroups=True
        ):
            async with httpx2.AsyncClient(headers=headers, timeout=10) as http:
                transport = streamable_http_client(h.url + "/mcp", http_client=http)
                async with Client(transport, mode=mode) as client:
                    await client.list_tools()
        assert time.monotonic() - started < 10
