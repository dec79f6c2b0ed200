"""The internal port: apphost asks for a person; the relay decides again itself."""

import asyncio
from typing import Any

import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY

from shared.contracts.identity import SessionKind
from shared.contracts.wire import APP_MIME_TYPE, Service
from shared.signing import new_signing_key
from tests.relay.house import House, house
from tests.relay.upstreams import (
    PAGE,
    PAGE_URI,
    Fake,
    modern_fake,
    sdk_app,
    served,
    toy_server,
)

DEAD = "http://127.0.0.1:9/mcp"


def body(method: str, surface: str = "console", page: str | None = None, **params: Any) -> Any:
    return {"method": method, "params": params, "surface": surface, "page": page}


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_the_console_lists_reads_and_calls(era: str) -> None:
    async with served(sdk_app(toy_server(), era)) as url, house([{"slug": "a", "url": url}]) as h:
        status, found = await h.ask(None)
        assert status == 200
        assert found["servers"] == [
            {
                "slug": "a",
                "name": "A",
                "description": "",
                "origin": url.removesuffix("/mcp"),
                "state": "ready",
                "reason": None,
                "detail": None,
                "apps": [
                    {"uri": PAGE_URI, "tool": "show", "title": "Show toys", "read_only": False},
                    {"uri": PAGE_URI, "tool": "refresh", "title": "refresh", "read_only": False},
                ],
                "tools": 5,
            }
        ]
        status, listed = await h.ask("a", body("tools/list"))
        assert len(listed["result"]["tools"]) == 5
        status, read = await h.ask("a", body("resources/read", uri=PAGE_URI))
        assert read["result"]["contents"][0]["text"] == PAGE
        assert read["result"]["contents"][0]["_meta"]["ui"]["csp"]
        call = body("tools/call", "app", PAGE_URI, name="echo", arguments={"text": "x"})
        status, called = await h.ask("a", call)
        assert (status, called["result"]["content"][0]["text"]) == (200, "x")


async def test_every_request_of_the_console_says_that_it_shows_apps() -> None:
    def call(_: Any, __: Any) -> Any:
        return {"result": {"resultType": "complete", "content": []}}

    server = modern_fake([{"name": "show", "inputSchema": {"type": "object"}}], call)
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        await h.ask("a", body("tools/list"))
        await h.ask("a", body("resources/list"))
        await h.ask("a", body("tools/call", "app", "ui://a/b", name="show", arguments={}))
    told = {"io.modelcontextprotocol/ui": {"mimeTypes": [APP_MIME_TYPE]}}
    assert {"tools/list", "resources/list", "tools/call"} <= set(server.methods)
    for message in server.messages:
        given = message["params"]["_meta"][CLIENT_CAPABILITIES_META_KEY]
        assert given["extensions"] == told


async def test_servers_that_fail_are_listed_with_the_reason_and_do_not_hold_up_the_others() -> None:
    async def hang(_: Any, __: Any) -> None:
        await asyncio.sleep(30)

    async with (
        served(sdk_app(toy_server())) as good,
        Fake(hang).served() as slow,
        house(
            [
                {"slug": "good", "url": good},
                {"slug": "dead", "url": DEAD},
                {"slug": "slow", "url": slow},
                {"slug": "secret", "url": good, "access": {"people": ["bob@strad.test"]}},
            ]
        ) as h,
    ):
        _, found = await h.ask(None)
        states = {s["slug"]: (s["state"], s["reason"]) for s in found["servers"]}
        assert states == {
            "good": ("ready", None),
            "dead": ("unavailable", "upstream-unreachable"),
            "slow": ("unavailable", "upstream-timeout"),
        }
        assert [s["slug"] for s in found["servers"]] == ["good", "dead", "slow"]


async def test_an_unknown_server_and_a_forbidden_one_are_the_same_answer() -> None:
    server = {"slug": "secret", "url": DEAD, "access": {"people": ["bob@strad.test"]}}
    async with house([server]) as h:
        answers = [await h.ask(slug, body("tools/list")) for slug in ("secret", "nothing")]
        for _, problem in answers:
            problem.pop("request_id")
        assert answers[0] == answers[1]
        assert answers[0][0] == 404
        assert answers[0][1]["type"] == "urn:strad:problem:not-found"


async def _refused(h: House, slug: str | None, assertion: str) -> None:
    request = body("tools/list") if slug else None
    status, problem = await h.ask(slug, request, assertion=assertion)
    assert (status, problem["type"]) == (401, "urn:strad:problem:sign-in-needed")


async def test_an_assertion_is_refused_when_forged_late_replayed_or_for_something_else() -> None:
    async with house([{"slug": "a", "url": DEAD}, {"slug": "b", "url": DEAD}]) as h:
        session = await h.session("ada")
        now = int(h.clock())
        wrong: list[dict[str, Any]] = [
            {"key": new_signing_key()},
            {"expires": now - 60},
            {"expires": now + 3600},
            {"audience": Service.AUTH},
            {"subject": h.person("bob").subject},
            {"session": "A" * 43},
            {"session": await h.session("bob")},
            {"id": "not a key part:*"},
        ]
        for fields in wrong:
            await _refused(
                h, None, h.assertion("ada", fields.pop("session", session), None, **fields)
            )
        await _refused(h, "a", h.assertion("ada", session, "b"))
        await _refused(h, "a", h.assertion("ada", session, None))
        await _refused(h, None, h.assertion("ada", session, "a"))
        await _refused(h, None, "")
        once = h.assertion("ada", session, None)
        assert (await h.ask(None, assertion=once))[0] == 200
        await _refused(h, None, once)


async def test_a_session_that_has_ended_opens_nothing() -> None:
    async with house([{"slug": "a", "url": DEAD}]) as h:
        session = await h.session("ada")
        h.clock.offset += 3601
        await _refused(h, None, h.assertion("ada", session, None))


async def test_a_session_of_somebody_who_may_not_sign_in_any_more_opens_nothing() -> None:
    provider = {"issuer": "https://idp.test", "client_id": "x", "client_secret": {"env": "X"}}
    only_bob = provider | {"allow": {"people": ["bob@strad.test"]}}
    async with house([{"slug": "a", "url": DEAD}], provider=only_bob) as h:
        await _refused(h, None, h.assertion("ada", await h.session("ada"), None))
        bobs = h.assertion("bob", await h.session("bob"), None)
        assert (await h.ask(None, assertion=bobs))[0] == 200


async def test_each_surface_may_do_what_it_is_for_and_no_more() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house(
            [
                {
                    "slug": "a",
                    "url": url,
                    "tools": {"deny": ["delete"], "each": {"refresh": {"read_only": True}}},
                }
            ]
        ) as h,
    ):
        page = PAGE_URI
        table: list[tuple[str, str, str | None, str | None]] = [
            ("app", "echo", page, None),
            ("app", "delete", page, "Unknown tool: delete"),
            ("app", "nothing", page, "Unknown tool: nothing"),
            ("open", "refresh", page, None),
            ("open", "refresh", "ui://other/page", "does not open this page"),
            ("open", "refresh", None, "does not open this page"),
            ("open", "show", page, "may change something"),
            ("run", "show", page, None),
            ("run", "echo", page, "does not open this page"),
            ("run", "delete", page, "Unknown tool: delete"),
            ("console", "delete", page, "Unknown tool: delete"),
        ]
        for surface, tool, shown, refusal in table:
            arguments = {"text": "x"} if tool == "echo" else {}
            call = body("tools/call", surface, shown, name=tool, arguments=arguments)
            status, answer = await h.ask("a", call)
            assert status == 200
            if refusal is None:
                assert "result" in answer, (surface, tool, answer)
            else:
                assert answer["error"]["code"] == -32602, (surface, tool, answer)
                assert refusal in answer["error"]["message"], (surface, tool, answer)


async def test_a_page_calls_what_is_visible_to_pages_and_nothing_else() -> None:
    heard: list[str] = []

    def call(_: Any, message: Any) -> Any:
        heard.append(message["params"]["name"])
        return {"result": {"resultType": "complete", "content": []}}

    def tool(name: str, ui: Any) -> dict[str, Any]:
        return {"name": name, "inputSchema": {}, "_meta": {"ui": ui}}

    tools = [
        tool("for-models", {"visibility": ["model"]}),
        tool("for-pages", {"visibility": ["app"]}),
        tool("for-both", {}),
        tool("for-nobody", {"visibility": []}),
        tool("for-strings", {"visibility": "app"}),
        tool("broken", {"resourceUri": "https://evil.test/page"}),
    ]
    async with modern_fake(tools, call).served() as url, house([{"slug": "a", "url": url}]) as h:
        for name in [str(t["name"]) for t in tools]:
            _, answer = await h.ask("a", body("tools/call", "app", "ui://x/y", name=name))
            if "error" in answer:
                assert answer["error"]["data"] == {"reason": "not-visible-to-apps"}
        assert heard == ["for-pages", "for-both"]


async def test_a_bare_name_is_this_servers_tool_and_another_servers_is_none() -> None:
    async with (
        modern_fake([{"name": "one", "inputSchema": {}}]).served() as a,
        modern_fake([{"name": "two", "inputSchema": {}}]).served() as b,
        house([{"slug": "a", "url": a}, {"slug": "b", "url": b}]) as h,
    ):
        for name in ("two", "b__two", "a__one"):
            _, answer = await h.ask("a", body("tools/call", "app", "ui://x/y", name=name))
            assert answer == {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}


async def test_a_body_that_is_not_a_question_is_refused() -> None:
    async with house([{"slug": "a", "url": DEAD}]) as h:
        wrong: list[Any] = [
            body("tools/list", "client"),
            body("initialize"),
            body("tools/list", "open", PAGE_URI),
            body("resources/read", "run", PAGE_URI, uri=PAGE_URI),
            body("tools/list") | {"more": 1},
            {"method": "tools/list"},
            [],
            "x",
        ]
        for request in wrong:
            status, problem = await h.ask("a", request)
            assert (status, problem["type"]) == (400, "urn:strad:problem:bad-request"), request


async def test_a_look_only_session_lists_but_does_not_act() -> None:
    async with served(sdk_app(toy_server())) as url, house([{"slug": "a", "url": url}]) as h:
        session = await h.session("ada", SessionKind.TOKEN)
        status, _ = await h.ask(None, assertion=h.assertion("ada", session, None))
        assert status == 200
        call = body("tools/call", "run", PAGE_URI, name="show", arguments={})
        _, answer = await h.ask("a", call, assertion=h.assertion("ada", session, "a"))
        assert answer["error"]["data"] == {"reason": "look-only-session"}


async def test_what_a_server_refuses_comes_back_as_it_said_it() -> None:
    async with served(sdk_app(toy_server())) as url, house([{"slug": "a", "url": url}]) as h:
        status, answer = await h.ask("a", body("resources/read", uri="ui://no/such"))
        assert status == 200
        assert answer["error"]["code"] == -32602
