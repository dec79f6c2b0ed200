"""Requests a minute: of a person and at a server, over all replicas, and who pays for whom."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from mcp.client import Client

from services.relay.callers.limits import WINDOW_SECONDS
from services.relay.changes import alive
from shared.contracts.access import Reason
from shared.stores.audit import TrailReader
from shared.stores.memory import MemoryKeyValue
from shared.stores.redis import connect
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller, message
from tests.relay.test_alive import open_stream
from tests.relay.twins import twin
from tests.relay.upstreams import LegacyFake, modern_fake, sdk_app, served, toy_server
from tests.shared.valkey import valkey

DONE = {"result": {"resultType": "complete", "content": []}}
CALL = ("tools/call", {"name": "go"})
BOTH = {"people": ["ada@strad.test", "bob@strad.test"]}


def early(h: House) -> None:
    """Turn the clock to the beginning of a minute."""
    h.clock.offset += WINDOW_SECONDS - h.clock() % WINDOW_SECONDS


async def calls(h: House, count: int, **more: Any) -> list[int]:
    return [(await h.modern("/mcp/x", *CALL, **more))[0] for _ in range(count)]


async def test_a_person_may_ask_so_much_a_minute_and_is_told_when_to_come_back() -> None:
    fake = modern_fake([], lambda *_: DONE)
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url, "access": BOTH}], limits={"person": 5}) as h,
    ):
        early(h)
        assert await calls(h, 6) == [200] * 5 + [429]
        sent = await h.bearer() | {"Accept": "application/json, text/event-stream"}
        body = {"jsonrpc": "2.0", "id": 9, "method": "tools/list"}
        async with h.http.post(h.url + "/mcp", json=body, headers=sent) as answer:
            assert answer.status == 429
            assert 1 <= int(answer.headers["Retry-After"]) <= WINDOW_SECONDS
            told = await answer.json()
            assert (told["id"], told["error"]["data"]["kind"]) == (9, "too-many-requests")
        assert await calls(h, 1, name="bob") == [200]
        before = len(fake.messages)
        assert await calls(h, 3) == [429] * 3
        assert len(fake.messages) == before
        h.clock.offset += WINDOW_SECONDS
        assert await calls(h, 1) == [200]


async def test_in_a_session_who_asks_too_much_is_told_and_keeps_the_session() -> None:
    async with (
        LegacyFake().served() as url,
        house([{"slug": "x", "url": url}], limits={"person": 3}) as h,
    ):
        early(h)
        caller = await OldCaller.begin(h, "/mcp/x")
        (listed,) = await caller.ask("tools/list")
        assert listed["result"]["tools"]
        async with caller.post(message("tools/list", 9)) as answer:
            assert answer.status == 200
            assert 1 <= int(answer.headers["Retry-After"]) <= WINDOW_SECONDS
            told = await answer.json()
        assert (told["id"], told["error"]["data"]["kind"]) == (9, "too-many-requests")
        assert await caller.tell("notifications/x") == 429
        h.clock.offset += WINDOW_SECONDS
        assert "result" in (await caller.ask("tools/list"))[-1]


async def test_a_server_is_asked_so_much_a_minute_by_all_together() -> None:
    fake = modern_fake([], lambda *_: DONE)
    async with (
        fake.served() as url,
        house(
            [
                {"slug": "x", "url": url, "access": BOTH, "per_minute": 6},
                {"slug": "y", "url": url, "access": BOTH},
            ]
        ) as h,
    ):
        early(h)
        assert await calls(h, 4) == [200] * 4
        assert await calls(h, 3, name="bob") == [200] * 2 + [429]
        status, body = await h.modern("/mcp/x", *CALL)
        assert (status, "X is asked too much" in body["error"]["message"]) == (429, True)
        assert (await h.modern("/mcp/y", *CALL))[0] == 200
        # by the merged view it is the same server
        status, _ = await h.modern("/mcp", "tools/call", {"name": "x__go"})
        assert status == 429
        assert (await h.modern("/mcp", "tools/call", {"name": "y__go"}))[0] == 200


async def test_two_replicas_count_together() -> None:
    fake = modern_fake([], lambda *_: DONE)
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url}], limits={"person": 6}) as h,
        twin(h) as other,
    ):
        early(h)
        host = {"Host": h.url.removeprefix("http://")}
        both = (h, replace(h, url=other))
        statuses = [(await one.modern("/mcp/x", *CALL, headers=host))[0] for one in both * 4]
        assert statuses == [200] * 6 + [429] * 2


@pytest.mark.parametrize("path", ["/mcp/x", "/mcp?servers=x"])
async def test_who_may_not_use_a_server_cannot_use_it_up_for_those_who_may(path: str) -> None:
    fake = modern_fake([], lambda *_: DONE)
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url, "per_minute": 10}], limits={"person": 20}) as h,
    ):
        early(h)
        for _ in range(30):
            assert (await h.modern(path, *CALL, name="eve"))[0] in {404, 429}
        assert await calls(h, 10) == [200] * 10


async def test_one_person_beyond_the_limit_does_not_fill_a_server() -> None:
    fake = modern_fake([], lambda *_: DONE)
    async with (
        fake.served() as url,
        house(
            [{"slug": "x", "url": url, "access": BOTH, "per_minute": 10}], limits={"person": 5}
        ) as h,
    ):
        early(h)
        await calls(h, 30)
        assert await calls(h, 4, name="bob") == [200] * 4


async def test_a_token_that_has_ended_uses_up_nothing_of_its_person() -> None:
    fake = modern_fake([], lambda *_: DONE)
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url}], limits={"person": 5}) as h,
    ):
        early(h)
        old = await h.token(servers=("x",))
        used = {"Authorization": f"Bearer {old}"}
        assert (await h.modern("/mcp/x", *CALL, headers=used))[0] == 200
        owner = h.person("ada").subject
        for record in (await h.token_writer.of(owner)).values():
            if record.servers is not None:
                await h.token_writer.revoke(owner, record.id)
        for _ in range(20):
            assert (await h.modern("/mcp/x", *CALL, headers=used))[0] == 401
        assert await calls(h, 3) == [200] * 3


async def test_pages_and_clients_of_a_person_count_as_one() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "toys", "url": url}], limits={"person": 4}) as h,
    ):
        early(h)
        question = {
            "method": "tools/call",
            "params": {"name": "refresh", "arguments": {}},
            "surface": "app",
        }
        for _ in range(2):
            assert (await h.ask("toys", question))[0] == 200
            assert (await h.modern("/mcp/toys", "tools/list"))[0] == 200
        status, body = await h.ask("toys", question)
        assert (status, body["type"]) == (429, "urn:strad:problem:too-many-requests")
        assert (await h.ask(None))[0] == 429
        assert (await h.modern("/mcp/toys", "tools/list"))[0] == 429


async def test_a_flood_is_one_entry_of_the_trail_a_minute() -> None:
    fake = modern_fake([], lambda *_: DONE)
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url}], limits={"person": 3}) as h,
    ):
        early(h)
        await calls(h, 12)
        reader = TrailReader(h.store, h.settings.audit_seal, h.clock)
        denied = [one async for one in reader.entries(0) if one["event"] == "denied"]
        assert [one["reason"] for one in denied] == [Reason.PERSON_LIMIT]


async def ask_forty_times(client: Client) -> None:
    for number in range(40):
        await client.call_tool("echo", {"text": str(number)})


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_the_sdks_client_is_told_at_once(mode: str) -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "toys", "url": url}], limits={"person": 30}) as h,
    ):
        early(h)
        async with h.client("/mcp/toys", mode) as client:
            started = time.monotonic()
            with pytest.raises(MCPError, match="You ask too much"):
                await ask_forty_times(client)
            assert time.monotonic() - started < 10
            h.clock.offset += WINDOW_SECONDS  # else the client could not end its session


async def test_counters_end_by_themselves(tmp_path: Path) -> None:
    fake = modern_fake([], lambda *_: DONE)
    with valkey(tmp_path) as server:
        store = connect(server.url, "tester", "tester")
        async with fake.served() as url, house([{"slug": "x", "url": url}], store=store) as h:
            assert await calls(h, 3) == [200] * 3
            with server.admin() as admin:
                counters = list(admin.scan_iter("limit:*"))
                assert len(counters) >= 2
                for key in counters:
                    assert 0 < admin.ttl(key) <= 2 * WINDOW_SECONDS


async def test_a_counter_that_begins_beside_one_that_is_there_gets_an_end_too(
    tmp_path: Path,
) -> None:
    """Of whoever was let through to two servers in the minute before."""
    fake = modern_fake([], lambda *_: DONE)
    with valkey(tmp_path) as server:
        store = connect(server.url, "tester", "tester")
        async with (
            fake.served() as url,
            house([{"slug": slug, "url": url} for slug in "xy"], store=store) as h,
        ):
            early(h)
            for _ in range(2):
                for slug in "xy":
                    assert (await h.modern(f"/mcp/{slug}", *CALL))[0] == 200
                h.clock.offset += WINDOW_SECONDS
            with server.admin() as admin:
                counters = list(admin.scan_iter("limit:*"))
                assert len(counters) == 6
                assert min(admin.ttl(key) for key in counters) > 0


async def test_what_stays_open_is_looked_at_again_and_again_and_counts_as_one_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Counting(MemoryKeyValue):
        looks = 0

        async def look(self, *asked: Any) -> tuple[list[bytes | None], list[int]]:
            self.looks += 1
            return await super().look(*asked)

    monkeypatch.setattr(alive, "RECHECK_SECONDS", 0.01)
    store = Counting()
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "a", "url": url}], store=store, limits={"person": 10}) as h,
    ):
        early(h)
        async with open_stream(h, h.url):
            async with asyncio.timeout(5):
                while store.looks < 30:
                    await asyncio.sleep(0.01)
            assert (await h.modern("/mcp/a", "tools/list"))[0] == 200
