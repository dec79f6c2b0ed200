"""`subscriptions/listen`: a change reaches whoever asked, once, whatever the server speaks."""

import asyncio
from typing import Any

import pytest

from services.relay.changes import changes, listener
from tests.relay.changing import FAKES, KINDS, ChangingLegacy, ChangingModern
from tests.relay.house import house
from tests.relay.new_caller import LISTS, SUBSCRIPTION, listen, listening
from tests.relay.twins import twin

TOOLS = {"toolsListChanged": True}
both_eras = pytest.mark.parametrize("era", FAKES)
both_views = pytest.mark.parametrize("path", ["/mcp/a", "/mcp"])
BOTH = {"people": ["ada@strad.test", "bob@strad.test"]}


def _tagged(method: str, **params: Any) -> Any:
    params |= {"_meta": {SUBSCRIPTION: "sub"}}
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


@both_eras
@both_views
async def test_a_changed_list_is_told_once_and_with_the_callers_own_id(era: str, path: str) -> None:
    server = FAKES[era]()
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url}]) as h,
        listening(h, path, LISTS) as (told, heard),
    ):
        assert told == LISTS
        for kind in KINDS:
            for number in range(2):
                server.grow(kind, f"-{number}")
                await server.changed(kind)
                assert await heard.next() == _tagged(f"{kind}/list_changed")
        assert await heard.nothing()


async def test_a_stream_goes_on_though_nothing_is_told_for_longer_than_the_server_has() -> None:
    async def one(era: str, path: str) -> None:
        server = FAKES[era]()
        async with (
            server.served() as url,
            house([{"slug": "a", "url": url, "timeout": 1}]) as h,
            listening(h, path, LISTS) as (_, heard),
        ):
            assert await heard.nothing(2.2), (era, path)
            server.grow("tools")
            await server.changed("tools")
            assert await heard.next() == _tagged("tools/list_changed"), (era, path)

    # each only waits: all of them at once
    await asyncio.gather(*(one(era, path) for era in FAKES for path in ("/mcp/a", "/mcp")))


async def test_a_mistake_of_ours_while_listening_leaves_nobody_with_a_deaf_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, mistakes = changes.acknowledged, iter([True])

    def acknowledged(message: Any) -> Any:
        if next(mistakes, False):
            raise LookupError("a mistake")
        return real(message)

    monkeypatch.setattr(listener, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(changes, "acknowledged", acknowledged)
    server = ChangingModern()
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url}]) as h,
        listening(h, "/mcp", TOOLS) as (_, heard),
    ):
        server.grow("tools")
        assert await heard.next() == _tagged("tools/list_changed")


@both_eras
@both_views
async def test_what_was_not_asked_for_is_not_told(era: str, path: str) -> None:
    server = FAKES[era]()
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url}]) as h,
        listening(h, path, {"promptsListChanged": True}) as (told, heard),
    ):
        assert told == {"promptsListChanged": True}
        server.grow("tools")
        if era == "legacy":  # one of 2026-07-28 does not send it, and would be believed
            await server.changed("tools")
        assert await heard.nothing()
        server.grow("prompts")
        await server.changed("prompts")
        assert await heard.next() == _tagged("prompts/list_changed")


@both_eras
@pytest.mark.parametrize(("path", "uri"), [("/mcp/a", "x://r"), ("/mcp", "strad+a:x://r")])
async def test_an_updated_resource_is_told_to_who_subscribed_to_it(
    era: str, path: str, uri: str
) -> None:
    server = FAKES[era]()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        async with listening(h, path, {"resourceSubscriptions": [uri]}) as (told, heard):
            assert told == {"resourceSubscriptions": [uri]}
            await server.updated("x://r")
            assert await heard.next() == _tagged("resources/updated", uri=uri)
            await server.updated("x://other")
            assert await heard.nothing()
        await server.streaming(0)


async def test_an_older_servers_no_to_a_resource_is_no_acknowledgement() -> None:
    server = ChangingLegacy()
    wanted = {"resourceSubscriptions": ["x://r", "x://refused"]}
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url}]) as h,
        listening(h, "/mcp/a", wanted) as (told, _),
    ):
        assert told == {"resourceSubscriptions": ["x://r"]}


@both_eras
@both_views
async def test_who_leaves_is_forgotten_at_the_server_too(era: str, path: str) -> None:
    server = FAKES[era]()
    wanted = LISTS | {"resourceSubscriptions": ["x://r" if path == "/mcp/a" else "strad+a:x://r"]}
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        async with listening(h, path, wanted):
            assert len(server.streams) == 1
        await server.streaming(0)
        if isinstance(server, ChangingLegacy):
            async with asyncio.timeout(5):
                while any(server.sessions.values()):
                    await asyncio.sleep(0.01)


async def test_listeners_of_one_person_do_not_share_a_stream_of_an_older_server() -> None:
    server = ChangingLegacy()
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url}]) as h,
        twin(h) as other,
    ):
        async with (
            listening(h, "/mcp/a", LISTS) as (_, one),
            listening(h, "/mcp/a", LISTS, at=other) as (_, two),
        ):
            # one in the session that calls are made in, one in a session of its own
            assert len(server.streams) == 2
            calls_in = await h.modern("/mcp/a", "tools/list")
            assert calls_in[0] == 200
            assert server.seen[-1].headers["Mcp-Session-Id"] in server.streams
            server.grow("tools")
            await server.changed("tools")
            for heard in (one, two):
                assert await heard.next() == _tagged("tools/list_changed")
                assert await heard.nothing()
        async with asyncio.timeout(5):
            while len(server.ended) < 1:
                await asyncio.sleep(0.01)
        async with listening(h, "/mcp/a", LISTS, at=other):
            assert len(server.streams) == 1
            assert set(server.streams) <= set(server.sessions)
        assert len(server.sessions) == 1


@pytest.mark.parametrize(
    # between two of one version it passes as it is: the caller sees it break, and listens again
    ("era", "path"),
    [("legacy", "/mcp/a"), ("legacy", "/mcp"), ("modern", "/mcp")],
)
async def test_a_stream_that_breaks_is_opened_again_and_what_may_have_changed_is_told(
    era: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "FIRST_PAUSE", 0.1)
    server = FAKES[era]()
    uri = "x://r" if path == "/mcp/a" else "strad+a:x://r"
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url}]) as h,
        listening(h, path, {"toolsListChanged": True, "resourceSubscriptions": [uri]}) as (
            _,
            heard,
        ),
    ):
        server.listening.clear()
        if isinstance(server, ChangingLegacy):
            server.lose()
        else:
            server.drop()
        server.grow("tools")  # and nobody hears it say so
        await asyncio.wait_for(server.listening.wait(), 5)
        got = [await heard.next(), await heard.next()]
        assert _tagged("tools/list_changed") in got
        assert _tagged("resources/updated", uri=uri) in got
        assert await heard.nothing()
        server.grow("tools", "-again")
        await server.changed("tools")
        assert await heard.next() == _tagged("tools/list_changed")


async def test_in_the_merged_view_one_server_that_is_away_takes_nobody_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listener, "FIRST_PAUSE", 0.1)
    a, b = ChangingModern(), ChangingLegacy()
    async with (
        a.served() as one,
        b.restartable() as (two, stop, start),
        house([{"slug": "a", "url": one}, {"slug": "b", "url": two}]) as h,
    ):
        await stop()
        async with listening(h, "/mcp", LISTS) as (_, heard):
            a.grow("tools")
            await a.changed("tools")
            assert await heard.next() == _tagged("tools/list_changed")
            await start()
            await asyncio.wait_for(b.listening.wait(), 5)
            # what b has now was not there when this began
            said = {(await heard.next())["method"] for _ in KINDS}
            assert said == {f"notifications/{kind}/list_changed" for kind in KINDS}


@both_eras
async def test_a_server_that_says_twice_that_its_list_changed_is_told_of_once(era: str) -> None:
    server = FAKES[era]()
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url}]) as h,
        listening(h, "/mcp", LISTS) as (_, heard),
    ):
        server.grow("tools")
        for _ in range(5):
            await server.changed("tools")
        assert await heard.next() == _tagged("tools/list_changed")
        assert await heard.nothing()


@both_eras
@both_views
async def test_a_person_who_sees_no_change_is_not_told_of_one(era: str, path: str) -> None:
    server = FAKES[era]()
    tools = {"deny": ["gohidden"]}
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url, "tools": tools}]) as h,
        listening(h, path, LISTS) as (_, heard),
    ):
        server.grow("tools", "hidden")
        await server.changed("tools")
        assert await heard.nothing()
        server.grow("tools", "seen")
        await server.changed("tools")
        assert await heard.next() == _tagged("tools/list_changed")


@both_views
async def test_a_server_that_offers_no_stream_is_not_said_to_tell_of_changes(path: str) -> None:
    server = ChangingLegacy()
    server.no_stream = 405
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        async with listening(h, path, LISTS) as (told, heard):
            assert told == {}
            assert await heard.nothing()
        asked = [request for request in server.seen if request.method == "GET"]
        _, body = await h.modern("/mcp/a", "server/discover")
        assert body["result"]["capabilities"] == {"tools": {}, "prompts": {}, "resources": {}}
        async with listening(h, path, LISTS) as (told, _):
            assert told == {}
        assert [request for request in server.seen if request.method == "GET"] == asked


@both_eras
async def test_a_subscription_across_views_ends_in_order_when_the_right_does(era: str) -> None:
    path = "/mcp/a" if era == "legacy" else "/mcp"
    server = FAKES[era]()
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url}]) as h,
        listening(h, path, LISTS) as (_, heard),
    ):
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        said = {(await heard.next())["method"] for _ in KINDS}  # it has to look again
        assert said == {f"notifications/{kind}/list_changed" for kind in KINDS}
        result = {"resultType": "complete", "_meta": {SUBSCRIPTION: "sub"}}
        assert await heard.next() == {"jsonrpc": "2.0", "id": "sub", "result": result}
        assert await heard.next() is None
        await server.streaming(0)


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        [],
        "x",
        {"resourceSubscriptions": "x://r"},
        {"resourceSubscriptions": [1]},
        {"resourceSubscriptions": [f"x://{n}" for n in range(101)]},
    ],
    ids=["none", "list", "text", "one", "number", "too many"],
)
async def test_a_filter_that_is_none_is_refused(wanted: Any) -> None:
    server = ChangingLegacy()
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        for path in ("/mcp/a", "/mcp"):
            async with listen(h, path, wanted) as response:
                body = await response.json()
                assert (response.status, body["error"]["code"], body["id"]) == (400, -32602, "sub")


async def test_of_a_server_that_one_may_not_use_nothing_is_told() -> None:
    mine, theirs = ChangingModern(), ChangingModern()
    bob = {"people": ["bob@strad.test"]}
    async with mine.served() as one, theirs.served() as two:
        servers: list[Any] = [{"slug": "a", "url": one}, {"slug": "b", "url": two, "access": bob}]
        async with house(servers) as h:
            wanted = LISTS | {"resourceSubscriptions": ["strad+b:x://r", "strad+a:x://r", "x://r"]}
            async with listening(h, "/mcp", wanted) as (told, heard):
                assert told == LISTS | {"resourceSubscriptions": ["strad+a:x://r"]}
                theirs.grow("tools")
                await theirs.changed("tools")
                assert await heard.nothing()
        assert theirs.messages == []
