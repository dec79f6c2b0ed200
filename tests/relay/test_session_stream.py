"""The GET stream of a session: changes reach it, at any replica, whatever the servers speak."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from shared.stores.memory import MemoryKeyValue
from shared.web.serve import GRACE_SECONDS
from tests.relay.changing import FAKES, KINDS, ChangingLegacy, ChangingModern
from tests.relay.house import house, write_config
from tests.relay.new_caller import LISTS, listening
from tests.relay.old_caller import Heard, OldCaller, event_id
from tests.relay.test_reload import changed
from tests.relay.twins import twin, two_before

# the relay answers the session itself in these; in the fourth cell it is the server's own
CROSSING = [
    pytest.param("modern", "/mcp/a", "x://r", id="C"),
    pytest.param("modern", "/mcp", "strad+a:x://r", id="merged, modern"),
    pytest.param("legacy", "/mcp", "strad+a:x://r", id="merged, legacy"),
]
across = pytest.mark.parametrize(("era", "path", "uri"), CROSSING)
everywhere = pytest.mark.parametrize(
    ("era", "path", "uri"), [*CROSSING, pytest.param("legacy", "/mcp/a", "x://r", id="A")]
)


def _changed(kind: str) -> Any:
    return {"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"}


def _updated(uri: str) -> Any:
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


@asynccontextmanager
async def hearing(caller: OldCaller, at: str = "", **headers: str) -> AsyncIterator[Heard]:
    """The session's stream, while the block runs."""
    before, caller.at = caller.at, at or caller.at
    async with caller.stream(**headers) as response:
        caller.at = before
        assert response.status == 200, await response.text()
        assert response.content_type == "text/event-stream"
        yield Heard(response)


@everywhere
async def test_a_changed_list_is_told_once(era: str, path: str, uri: str) -> None:
    server = FAKES[era]()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, path)
        async with hearing(caller) as heard:
            for kind in KINDS:
                for number in range(2):
                    server.grow(kind, f"-{number}")
                    await server.changed(kind)
                    assert await heard.next() == _changed(kind)
            assert await heard.nothing()
        await server.streaming(0)


async def test_a_stream_goes_on_though_nothing_is_told_for_longer_than_the_server_has() -> None:
    async def one(era: str, path: str) -> None:
        server = FAKES[era]()
        async with (
            server.served() as url,
            house([{"slug": "a", "url": url, "timeout": 1}]) as h,
        ):
            caller = await OldCaller.begin(h, path)
            async with hearing(caller) as heard:
                assert await heard.nothing(2.2), (era, path)
                server.grow("tools")
                await server.changed("tools")
                assert await heard.next() == _changed("tools"), (era, path)

    # each only waits: all of them at once
    await asyncio.gather(*(one(era, path) for era in FAKES for path in ("/mcp/a", "/mcp")))


@everywhere
async def test_a_subscription_at_one_replica_is_told_on_the_stream_at_another(
    era: str, path: str, uri: str
) -> None:
    server = FAKES[era]()
    async with two_before(server) as (h, other):
        caller = await OldCaller.begin(h, path)
        async with hearing(caller, at=other) as heard:
            assert (await caller.ask("resources/subscribe", uri=uri))[-1]["result"] == {}
            await server.updated("x://r")
            assert await heard.next() == _updated(uri)
            await server.updated("x://other")
            assert await heard.nothing()
            assert (await caller.ask("resources/unsubscribe", uri=uri))[-1]["result"] == {}
            await server.updated("x://r")
            assert await heard.nothing()


@everywhere
async def test_a_subscription_made_before_there_is_a_stream_holds_once_there_is(
    era: str, path: str, uri: str
) -> None:
    server = FAKES[era]()
    async with two_before(server) as (h, other):
        caller = await OldCaller.begin(h, path)
        assert (await caller.ask("resources/subscribe", uri=uri))[-1]["result"] == {}
        for at in (other, h.url):  # and again after the stream was left
            async with hearing(caller, at=at) as heard:
                async with asyncio.timeout(5):
                    while not any("x://r" in server.subscriptions(one) for one in server.streams):
                        await asyncio.sleep(0.01)
                await server.updated("x://r")
                assert await heard.next() == _updated(uri)
            await server.streaming(0)


@across
async def test_a_newer_stream_of_a_session_ends_the_older_wherever_it_is(
    era: str, path: str, uri: str
) -> None:
    server = FAKES[era]()
    async with two_before(server) as (h, other):
        caller = await OldCaller.begin(h, path)
        async with hearing(caller) as first, hearing(caller, at=other) as second:
            assert await first.next() is None
            async with hearing(caller) as third:
                assert await second.next() is None
                server.grow("tools")
                await server.changed("tools")
                assert await third.next() == _changed("tools")
                assert await third.nothing()


class SlowWords(MemoryKeyValue):
    """A store whose words are on their way for a while."""

    async def publish(self, channel: str, message: bytes) -> None:
        await asyncio.sleep(0.05)
        await super().publish(channel, message)


@across
@pytest.mark.parametrize("replicas", [1, 2])
async def test_of_streams_that_begin_at_once_one_remains(
    era: str, path: str, uri: str, replicas: int
) -> None:
    server = FAKES[era]()
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url}], store=SlowWords()) as h,
        twin(h) as other,
        AsyncExitStack() as stack,
    ):
        caller = await OldCaller.begin(h, path)
        places = [h.url, other][:replicas] * 4
        callers = [OldCaller(h, path, caller.session, at) for at in places[:4]]
        opened = [stack.enter_async_context(one.stream()) for one in callers]
        heard = [Heard(response) for response in await asyncio.gather(*opened)]
        await server.streaming(1)
        server.grow("tools")
        await server.changed("tools")
        assert sorted([await one.next() is None for one in heard]) == [False, True, True, True]


@across
async def test_subscriptions_made_at_once_hold_when_each_is_answered(
    era: str, path: str, uri: str
) -> None:
    server = FAKES[era]()
    async with two_before(server) as (h, other):
        caller = await OldCaller.begin(h, path)
        async with hearing(caller):

            async def subscribe(number: int) -> bool:
                await asyncio.sleep(0.001 * number)
                one = OldCaller(h, path, caller.session, (h.url, other)[number % 2])
                answer = await one.ask("resources/subscribe", uri=f"{uri}{number}")
                assert answer[-1]["result"] == {}
                own = f"x://r{number}"
                return any(own in server.subscriptions(stream) for stream in server.streams)

            assert await asyncio.gather(*map(subscribe, range(8))) == [True] * 8


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_server_that_comes_is_a_change_of_the_lists_and_the_stream_begins_anew(
    mode: str, tmp_path: Path
) -> None:
    a, b, config = ChangingModern(), ChangingModern(), tmp_path / "strad.yaml"
    bob = {"people": ["bob@strad.test"]}
    async with (
        a.served() as one,
        b.served() as two,
        house(
            [{"slug": "a", "url": one}, {"slug": "b", "url": two, "access": bob}],
            config_path=config,
        ) as h,
        AsyncExitStack() as stack,
    ):
        if mode == "legacy":
            caller = await OldCaller.begin(h, "/mcp")
            heard = await stack.enter_async_context(hearing(caller))
        else:
            _, heard = await stack.enter_async_context(listening(h, "/mcp", LISTS))
        await asyncio.sleep(0.6)  # the file is at rest
        both = {"people": ["ada@strad.test", "bob@strad.test"]}
        write_config(config, changed(h.config, b=both))
        said = {(await heard.next())["method"] for _ in KINDS}
        assert said == {f"notifications/{kind}/list_changed" for kind in KINDS}
        if mode != "legacy":
            assert "result" in await heard.next()
        assert await heard.next() is None


async def test_where_the_session_is_the_servers_own_it_says_whether_it_takes_a_second() -> None:
    server = ChangingLegacy()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a")
        async with hearing(caller) as heard, caller.stream() as second:
            assert second.status == 409
            server.grow("tools")
            await server.changed("tools")
            assert await heard.next() == _changed("tools")


async def test_a_stream_that_is_taken_up_again_says_where_it_broke_off() -> None:
    server = ChangingLegacy()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a")
        mine = event_id(h, caller.session, "event/7")
        async with hearing(caller, Last_Event_ID=mine):
            (asked,) = [request for request in server.seen if request.method == "GET"]
            assert asked.headers["Last-Event-ID"] == "event/7"


@everywhere
async def test_a_session_that_ends_takes_its_stream_along(era: str, path: str, uri: str) -> None:
    server = FAKES[era]()
    async with two_before(server) as (h, other):
        caller = await OldCaller.begin(h, path)
        async with hearing(caller, at=other) as heard:
            assert (await h.http.delete(h.url + path, headers=await caller.headers())).status == 200
            if (era, path) == ("legacy", "/mcp/a"):
                server.drop()  # the server's part
            assert await heard.next() is None
        await server.streaming(0)
        async with caller.stream() as again:
            assert again.status == 404


@across
async def test_a_person_who_sees_no_change_is_not_told_of_one(
    era: str, path: str, uri: str
) -> None:
    server = FAKES[era]()
    tools = {"deny": ["gohidden"]}
    async with server.served() as url, house([{"slug": "a", "url": url, "tools": tools}]) as h:
        caller = await OldCaller.begin(h, path)
        async with hearing(caller) as heard:
            server.grow("tools", "hidden")
            await server.changed("tools")
            assert await heard.nothing()
            server.grow("tools", "seen")
            await server.changed("tools")
            assert await heard.next() == _changed("tools")


async def test_where_no_server_tells_of_anything_there_is_no_stream_and_nothing_is_announced() -> (
    None
):
    modern, legacy = ChangingModern(), ChangingLegacy()
    modern.capabilities = legacy.capabilities = {"tools": {}, "resources": {}}
    async with (
        modern.served() as one,
        legacy.served() as two,
        house([{"slug": "a", "url": one}, {"slug": "b", "url": two}]) as h,
    ):
        for path, uri in (("/mcp/a", "x://r"), ("/mcp", "strad+a:x://r"), ("/mcp", "strad+b:x")):
            caller = await OldCaller.begin(h, path)
            async with caller.stream() as response:
                assert response.status == 405
                assert response.headers["Allow"] == "POST, DELETE"
            (answer,) = await caller.ask("resources/subscribe", uri=uri)
            assert answer["error"]["code"] == -32601
            async with h.client(path, "legacy") as client:
                said = client.server_capabilities.model_dump(exclude_none=True)
            assert set(said) == {"tools", "resources"}
            assert not any(said["tools"].values())
            assert not any(said["resources"].values())


@pytest.mark.parametrize("path", ["/mcp/a", "/mcp"])
async def test_that_a_server_offers_no_stream_is_remembered_for_a_while(path: str) -> None:
    server = ChangingLegacy()
    server.no_stream = 405
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:

        def asked() -> int:
            return sum(request.method == "GET" for request in server.seen)

        async def get() -> int:
            caller = await OldCaller.begin(h, path)
            async with caller.stream() as response:
                if response.status == 200:  # merged: it began before that was known
                    async with asyncio.timeout(5):
                        while not asked():
                            await asyncio.sleep(0.01)
                return response.status

        await get()
        for _ in range(3):
            assert await get() == (405 if path == "/mcp/a" else 200)
        assert asked() == 1
        h.clock.offset += 601
        await get()
        assert asked() == 2


@across
async def test_what_may_be_subscribed_to_is_bounded_and_must_be_an_address(
    era: str, path: str, uri: str
) -> None:
    server = FAKES[era]()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, path)
        for wrong in (None, 7, "x" * 2049, ["x"]):
            (answer,) = await caller.ask("resources/subscribe", uri=wrong)
            assert answer["error"]["code"] == -32602
        if path == "/mcp":
            for elsewhere in ("x://r", "strad+b:x://r", "ui://b/x"):
                (answer,) = await caller.ask("resources/subscribe", uri=elsewhere)
                assert answer["error"]["code"] == -32602


async def test_a_session_subscribes_to_a_hundred_resources_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.relay.handlers.session_stream.EFFECT_SECONDS", 0.001)
    server = ChangingModern()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a")
        asked = [caller.ask("resources/subscribe", n, uri=f"x://{n % 100}") for n in range(101)]
        answers = await asyncio.gather(*asked)
        assert all(answer[-1]["result"] == {} for answer in answers)
        (answer,) = await caller.ask("resources/subscribe", uri="x://one-more")
        assert "unsubscribe" in answer["error"]["message"]


async def test_the_store_holds_no_address_that_was_subscribed_to() -> None:
    server = ChangingModern()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a")
        await caller.ask("resources/subscribe", uri="x://private")
        sets: dict[str, tuple[set[str], float]] = h.store._sets  # type: ignore[attr-defined]
        kept = {key: members for key, (members, _) in sets.items() if key.startswith("mcp:")}
        assert len(kept) == 1
        assert "private" not in str(kept)
        await h.http.delete(h.url + "/mcp/a", headers=await caller.headers())
        assert not any(key.startswith("mcp:") for key in sets)


async def test_a_session_that_only_listens_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.relay.changes.alive.RECHECK_SECONDS", 0.05)

    async def one(era: str, path: str) -> None:
        server = FAKES[era]()
        async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
            caller = await OldCaller.begin(h, path)
            async with hearing(caller) as heard:
                for _ in range(3):
                    h.clock.offset += 1000
                    await asyncio.sleep(0.3)
                server.grow("tools")
                await server.changed("tools")
                assert await heard.next() == _changed("tools"), (era, path)
            assert (await caller.ask("ping"))[-1]["result"] == {}, (era, path)

    # each only waits: all of them at once
    await asyncio.gather(*(one(era, path) for era in FAKES for path in ("/mcp/a", "/mcp")))


@across
async def test_a_relay_that_stops_does_not_wait_for_streams(era: str, path: str, uri: str) -> None:
    server = FAKES[era]()
    async with server.served() as url, aiohttp.ClientSession() as own:
        async with house([{"slug": "a", "url": url}]) as h:
            caller = await OldCaller.begin(h, path)
            h.http, http = own, h.http
            response = await own.get(h.url + path, headers=await caller.headers())
            assert response.status == 200
            heard = Heard(response)
            h.http = http
            stopping = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - stopping < GRACE_SECONDS / 2
        assert await heard.next() is None
        response.close()
