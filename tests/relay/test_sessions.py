"""Sessions of callers of 2025-11-25 and before: whose they are, what they lead to, how they end."""

import asyncio
from typing import Any

import pytest

from shared import keys
from tests.relay.house import House, house
from tests.relay.upstreams import LegacyFake, modern_fake, sdk_app, served, toy_server

BOTH = {"people": ["ada@strad.test", "bob@strad.test"]}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def _message(method: str, request_id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def _begin(version: str = "2025-11-25", **capabilities: Any) -> dict[str, Any]:
    info = {"name": "t", "version": "1"}
    return _message(
        "initialize", 0, protocolVersion=version, capabilities=capabilities, clientInfo=info
    )


async def _open(h: House, path: str, *, name: str = "ada", version: str = "2025-11-25") -> str:
    headers = await h.bearer(name) | ACCEPT
    async with h.http.post(h.url + path, json=_begin(version), headers=headers) as response:
        assert response.status == 200, await response.text()
        result = (await response.json())["result"]
        assert result["protocolVersion"] == version
        return response.headers["Mcp-Session-Id"]


async def _in(
    h: House, path: str, session: str, message: Any, name: str = "ada", verb: str = "POST"
) -> tuple[int, Any]:
    return await h.send(path, message, name=name, headers={"Mcp-Session-Id": session}, verb=verb)


@pytest.mark.parametrize("path", ["/mcp/a", "/mcp"])
async def test_a_session_is_its_persons_and_its_views_alone(path: str) -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house(
            [
                {"slug": "a", "url": url, "access": BOTH},
                {"slug": "b", "url": url, "access": BOTH},
            ]
        ) as h,
    ):
        session = await _open(h, path)
        listing = _message("tools/list")
        assert (await _in(h, path, session, listing))[0] == 200
        stranger = await _in(h, path, session, listing, name="bob")
        unknown = await _in(h, path, "x" * 43, listing, name="bob")
        assert stranger == unknown
        assert stranger[0] == 404
        for verb in ("GET", "DELETE"):
            assert (await _in(h, path, session, None, name="bob", verb=verb))[0] == 404
        for other in ("/mcp/b", "/mcp?servers=a,b", "/mcp" if path != "/mcp" else "/mcp/a"):
            assert (await _in(h, other, session, listing))[0] == 404
        assert (await _in(h, path, session, listing))[0] == 200


async def test_the_servers_own_session_id_is_never_shown_and_ours_is_random() -> None:
    async with served(sdk_app(toy_server())) as url, house([{"slug": "a", "url": url}]) as h:
        one, two = await _open(h, "/mcp/a"), await _open(h, "/mcp/a")
        assert one != two
        assert len(one) == 43  # the SDK's own are 32 hex digits


async def test_a_request_needs_its_session_and_its_token() -> None:
    async with served(sdk_app(toy_server())) as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        status, body = await h.send("/mcp/a", _message("tools/list"))
        assert (status, body["error"]["code"], body["id"]) == (400, -32600, 1)
        headers = ACCEPT | {"Mcp-Session-Id": session}
        async with h.http.post(
            h.url + "/mcp/a", json=_message("tools/list"), headers=headers
        ) as response:
            assert response.status == 401


async def test_a_session_ends_when_it_is_deleted_here_and_at_the_server() -> None:
    fake = LegacyFake()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        assert (await _in(h, "/mcp/a", session, None, verb="DELETE"))[0] == 200
        assert fake.seen[-1].method == "DELETE"
        assert fake.seen[-1].headers["Mcp-Session-Id"] == "s1"
        assert (await _in(h, "/mcp/a", session, _message("tools/list")))[0] == 404


async def test_an_idle_session_ends_and_a_used_one_does_not() -> None:
    async with LegacyFake().served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        for _ in range(3):
            h.clock.offset += 1000
            h.tokens.clear()
            assert (await _in(h, "/mcp/a", session, _message("tools/list")))[0] == 200
        h.clock.offset += 1801
        h.tokens.clear()
        assert (await _in(h, "/mcp/a", session, _message("tools/list")))[0] == 404


async def test_the_store_holds_no_usable_session_id_and_no_readable_record() -> None:
    async with LegacyFake().served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        values: dict[str, tuple[bytes, float]] = h.store._values  # type: ignore[attr-defined]
        kept = {k: v[0] for k, v in values.items() if k.startswith(keys.MCP_SESSION.prefix)}
        assert len(kept) == 1
        for key, value in kept.items():
            assert session not in key
            assert session.encode() not in value
            assert b"s1" not in value
            await h.store.put(key, b"\x01" + b"0" * 200, 100)
        assert (await _in(h, "/mcp/a", session, _message("tools/list")))[0] == 404


@pytest.mark.parametrize("era", ["legacy", "modern", "both"])
@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18", "2025-11-25"])
async def test_every_handshake_version_works_towards_every_server(era: str, version: str) -> None:
    async with served(sdk_app(toy_server(), era)) as url, house([{"slug": "a", "url": url}]) as h:
        for path, tool in (("/mcp/a", "echo"), ("/mcp", "a__echo")):
            session = await _open(h, path, version=version)
            note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            assert (await _in(h, path, session, note))[0] == 202
            assert (await _in(h, path, session, _message("ping")))[0] == 200
            call = _message("tools/call", name=tool, arguments={"text": "hi"})
            status, body = await _in(h, path, session, call)
            assert status == 200
            assert "hi" in str(body)


async def test_a_version_nobody_knows_gets_the_newest_handshake_version() -> None:
    async with (
        served(sdk_app(toy_server(), "modern")) as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        for path in ("/mcp/a", "/mcp"):
            for asked in ("1999-01-01", "2026-07-28"):
                status, body = await h.send(path, _begin(asked))
                assert (status, body["result"]["protocolVersion"]) == (200, "2025-11-25")


async def test_batches_are_refused_at_every_version() -> None:
    async with LegacyFake().served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a", version="2025-03-26")
        status, body = await _in(h, "/mcp/a", session, [_message("tools/list")])
        assert (status, body["error"]["code"]) == (400, -32600)


async def test_an_introduction_too_long_to_keep_is_refused() -> None:
    async with LegacyFake().served() as url, house([{"slug": "a", "url": url}]) as h:
        status, body = await h.send("/mcp/a", _begin(x="y" * 40_000))
        assert (status, body["error"]["data"]["kind"]) == (413, "too-large")


LOST = [
    (404, None),
    (404, ""),
    (400, None),
    (400, "Invalid or missing session ID"),
    (400, "Bad Request: Server not initialized"),
    (503, None),
    (503, "MCP session is unknown on this instance"),
]
each_way_to_lose = pytest.mark.parametrize(("lost", "words"), LOST)


@each_way_to_lose
async def test_a_lost_session_is_renewed_for_a_listing_and_a_call_is_not_repeated(
    lost: int, words: str | None
) -> None:
    fake = LegacyFake(lost, words=words)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        call = _message("tools/call", name="go", arguments={})
        assert (await _in(h, "/mcp/a", session, call))[0] == 200
        fake.lose()
        status, body = await _in(h, "/mcp/a", session, _message("tools/list"))
        assert (status, body["result"]["tools"][0]["name"]) == (200, "go")
        fake.lose()
        status, body = await _in(h, "/mcp/a", session, call)
        assert (status, body["error"]["data"]["kind"]) == (200, "upstream-unreachable")
        assert "not repeated" in body["error"]["message"]
        assert "try again" in body["error"]["message"]
        status, body = await _in(h, "/mcp/a", session, call)
        assert (status, body["result"]) == (200, {"content": [], "structuredContent": {"n": 7}})
        assert len(fake.calls) == 2


@each_way_to_lose
async def test_the_relays_own_session_is_renewed_in_the_same_way(
    lost: int, words: str | None
) -> None:
    fake = LegacyFake(lost, words=words)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for path, name in (("/mcp/a", "go"), ("/mcp", "a__go")):
            assert (await h.modern(path, "tools/call", {"name": name}))[0] == 200
            fake.lose()
            assert (await h.modern(path, "tools/list"))[0] == 200
            fake.lose()
            status, body = await h.modern(path, "tools/call", {"name": name})
            assert status == 502
            assert "not repeated" in body["error"]["message"]
            assert (await h.modern(path, "tools/call", {"name": name}))[0] == 200


async def test_a_server_that_goes_away_between_two_calls_gives_an_error_and_then_works_again() -> (
    None
):
    fake = LegacyFake()
    async with (
        fake.restartable() as (url, stop, start),
        house([{"slug": "a", "url": url}]) as h,
    ):
        session = await _open(h, "/mcp/a")
        call = _message("tools/call", name="go", arguments={})
        assert (await _in(h, "/mcp/a", session, call))[0] == 200
        await stop()
        status, body = await _in(h, "/mcp/a", session, call)
        assert (status, body["error"]["data"]["kind"]) == (200, "upstream-unreachable")
        assert "result" not in body
        told = _message("notifications/cancelled", requestId="other")
        del told["id"]
        assert (await _in(h, "/mcp/a", session, told))[0] == 202
        fake.lose()
        await start()
        assert "not repeated" in (await _in(h, "/mcp/a", session, call))[1]["error"]["message"]
        assert "result" in (await _in(h, "/mcp/a", session, call))[1]


async def test_a_server_without_sessions_serves_a_caller_with_one() -> None:
    fake = LegacyFake(keeps=False)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        assert (await _in(h, "/mcp/a", session, _message("tools/list")))[0] == 200
        assert not any("Mcp-Session-Id" in request.headers for request in fake.seen)


async def test_many_callers_of_one_person_share_one_session_and_two_people_never_do() -> None:
    fake = LegacyFake()
    async with fake.served() as url, house([{"slug": "a", "url": url, "access": BOTH}]) as h:
        await h.token()
        await asyncio.gather(*(h.modern("/mcp/a", "tools/list") for _ in range(8)))
        assert fake.opened == 1
        await h.modern("/mcp/a", "tools/list", name="bob")
        assert fake.opened == 2


async def test_the_version_agreed_on_is_sent_whatever_a_client_sends_later() -> None:
    fake = LegacyFake()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a", version="2025-06-18")
        headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-03-26"}
        status, _ = await h.send("/mcp/a", _message("tools/list"), headers=headers)
        assert status == 200
        assert fake.seen[-1].headers["MCP-Protocol-Version"] == "2025-06-18"


async def test_a_caller_of_the_other_version_is_told_apart_by_capabilities_it_can_use() -> None:
    fake = LegacyFake()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        meta = {
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {},
                "sampling": {},
                "roots": {},
                "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}},
                "vendor": {"x": 1},
            }
        }
        await h.modern("/mcp/a", "tools/list", {"_meta": meta})
        (params,) = [m["params"] for m in fake.messages if m.get("method") == "initialize"]
        assert params["capabilities"] == {
            "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}},
            "vendor": {"x": 1},
        }


async def test_a_modern_server_is_asked_once_which_version_it_speaks() -> None:
    fake = modern_fake([])
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for _ in range(3):
            await h.modern("/mcp/a", "tools/list")
        assert fake.methods.count("server/discover") == 1


@pytest.mark.parametrize("words", ["no healthy upstream", ""])
async def test_a_server_that_is_only_busy_has_lost_nothing(words: str) -> None:
    fake = LegacyFake(503, words=words)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        fake.lose()
        status, body = await _in(h, "/mcp/a", session, _message("tools/list"))
        assert (status, body["error"]["data"]["kind"]) == (200, "upstream-refused")
        assert fake.opened == 1
