"""Several servers as one: nothing lost, nothing mixed up, one bad server spoils nothing."""

import asyncio
from typing import Any

import pytest

from services.relay.merged import together
from tests.relay.house import CAPABILITIES, house
from tests.relay.upstreams import Fake, modern_fake, sdk_app, served, toy_server

DONE = {"resultType": "complete", "content": []}


def _tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}} | more


async def _names(h: Any, path: str = "/mcp") -> list[str]:
    status, body = await h.modern(path, "tools/list")
    assert status == 200, body
    return [tool["name"] for tool in body["result"]["tools"]]


async def test_every_page_of_every_server_is_listed_once() -> None:
    def pages(message: Any) -> Any:
        start = int(message["params"].get("cursor", 0))
        tools = [_tool(f"t{number}") for number in range(start, start + 50)]
        return {"tools": tools} | ({"nextCursor": str(start + 50)} if start < 100 else {})

    async with modern_fake(pages).served() as url, house([{"slug": "a", "url": url}]) as h:
        names = await _names(h)
        assert len(names) == len(set(names)) == 150


async def test_pages_without_an_end_are_the_servers_fault() -> None:
    def loop(_: Any) -> Any:
        return {"tools": [_tool("x")], "nextCursor": "again"}

    def forever(message: Any) -> Any:
        return {"tools": [], "nextCursor": message["params"].get("cursor", "") + "x"}

    for pages in (loop, forever):
        async with modern_fake(pages).served() as url, house([{"slug": "a", "url": url}]) as h:
            status, body = await h.modern("/mcp", "tools/list")
            assert status == 502
            assert "do not come to an end" in str(body)


async def _hang(_: Any, __: Any) -> None:
    await asyncio.sleep(30)


async def test_a_slow_server_holds_up_a_list_for_seconds_and_not_for_all_its_own_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(together, "LIST_SECONDS", 0.3)
    async with (
        modern_fake([_tool("one")]).served() as good,
        modern_fake(**{"tools/list": _hang}).served() as slow,
        house([{"slug": "good", "url": good}, {"slug": "slow", "url": slow, "timeout": 20}]) as h,
    ):
        async with asyncio.timeout(10):
            _, body = await h.modern("/mcp", "tools/list")
        assert [tool["name"] for tool in body["result"]["tools"]] == ["good__one"]
        assert body["result"]["_meta"]["strad/left-out"] == [
            {"server": "slow", "reason": "upstream-timeout"}
        ]


async def test_a_server_that_fails_is_named_and_the_others_are_listed() -> None:
    async with (
        modern_fake([_tool("one")]).served() as good,
        Fake(_hang).served() as slow,
        modern_fake(lambda _: {"tools": "none"}).served() as wrong,
        house(
            [
                {"slug": "good", "url": good},
                {"slug": "dead", "url": "http://127.0.0.1:9/mcp"},
                {"slug": "slow", "url": slow, "timeout": 1},
                {"slug": "wrong", "url": wrong},
            ]
        ) as h,
    ):
        async with asyncio.timeout(4):
            status, body = await h.modern("/mcp", "tools/list")
        assert status == 200
        assert [tool["name"] for tool in body["result"]["tools"]] == ["good__one"]
        assert body["result"]["_meta"]["strad/left-out"] == [
            {"server": "dead", "reason": "upstream-unreachable"},
            {"server": "slow", "reason": "upstream-timeout"},
            {"server": "wrong", "reason": "upstream-malformed"},
        ]
        assert (await h.modern("/mcp", "server/discover"))[0] == 200


async def test_when_every_server_fails_there_is_no_empty_list() -> None:
    async with house([{"slug": slug, "url": "http://127.0.0.1:9/mcp"} for slug in "ab"]) as h:
        for method in ("tools/list", "resources/list"):
            status, body = await h.modern("/mcp", method)
            assert status == 502
            assert "result" not in body


async def test_a_person_without_servers_has_an_empty_list() -> None:
    async with house([{"slug": "a", "url": "http://127.0.0.1:9/mcp"}]) as h:
        status, body = await h.modern("/mcp", "tools/list", name="bob")
        assert (status, body["result"]["tools"]) == (200, [])
        assert "_meta" not in body["result"] or "strad/left-out" not in body["result"]["_meta"]


async def test_names_stay_when_a_server_comes_or_goes() -> None:
    async with (
        modern_fake([_tool("x"), _tool("a.b")]).served() as one,
        modern_fake([_tool("x")]).served() as two,
    ):
        first = {"slug": "a", "url": one}
        async with house([first]) as h:
            alone = await _names(h)
        async with house([{"slug": "b", "url": two}, first]) as h:
            both = await _names(h)
            assert await _names(h, "/mcp?servers=b,a") == both
            assert await _names(h, "/mcp?servers=a") == ["x", "a.b"]
        assert set(alone) < set(both)


async def test_a_view_of_some_servers_holds_those_and_needs_each_of_them() -> None:
    async with (
        modern_fake([_tool("x")]).served() as url,
        house(
            [
                {"slug": "a", "url": url},
                {"slug": "b", "url": url},
                {"slug": "c", "url": url},
                {"slug": "no", "url": url, "access": {"people": ["bob@strad.test"]}},
            ]
        ) as h,
    ):
        assert await _names(h, "/mcp?servers=a,c") == ["a__x", "c__x"]
        for query in ("a,no", "a,nothing", "no", "nothing"):
            status, body = await h.modern(f"/mcp?servers={query}", "tools/list")
            assert status == 404, query
            assert "no such server" in body["error"]["message"]


async def test_a_call_goes_to_the_server_in_its_name_and_to_no_other() -> None:
    heard: list[tuple[str, dict[str, Any]]] = []

    def server(which: str) -> Fake:
        def call(_: Any, message: Any) -> Any:
            heard.append((which, message["params"]))
            return {"result": DONE}

        return modern_fake([_tool("go"), _tool("long" * 30), _tool("a.b")], call)

    async with (
        server("a").served() as a,
        server("b").served() as b,
        house(
            [
                {"slug": "a", "url": a},
                {"slug": "b", "url": b},
                {"slug": "no", "url": a, "access": {"people": ["bob@strad.test"]}},
            ]
        ) as h,
    ):
        for name in await _names(h):
            assert (await h.modern("/mcp", "tools/call", {"name": name, "extra": 1}))[0] == 200
        assert [(which, params["name"]) for which, params in heard] == [
            (which, tool) for which in "ab" for tool in ("go", "long" * 30, "a.b")
        ]
        assert all(params["extra"] == 1 for _, params in heard)
        told = len(heard)
        wrong = ["went", "no__go", "nothing__go", "a__", "__go", "a_go", "a__a-b-aaaaaaaaaa"]
        answers = set()
        for name in wrong:
            status, body = await h.modern("/mcp", "tools/call", {"name": name})
            answers.add((status, body["error"]["code"]))
            assert body["error"]["message"] == f"Unknown tool: {name}"
        assert answers == {(400, -32602)}
        assert len(heard) == told


async def test_everything_but_names_and_pages_comes_through_as_it_was() -> None:
    page = "ui://toys/view.html"
    meta = {
        "ui": {"resourceUri": page, "visibility": ["app"]},
        "ui/resourceUri": page,
        "v/x": {"a": 1},
    }
    tool = _tool("show", _meta=meta, annotations={"readOnlyHint": True}, execution={"new": [1]})
    result = {
        "resultType": "complete",
        "content": [
            {"type": "resource_link", "uri": page, "name": "p", "vendor": 1},
            {"type": "resource", "resource": {"uri": page, "text": "x"}},
            {"type": "resource_link", "uri": "file:///x", "name": "f"},
        ],
        "structuredContent": {"uri": page, "_meta": {"ui/resourceUri": page}},
        "_meta": {"v/y": [1]},
        "unknown": {"deep": [None, 1.5]},
    }
    async with (
        modern_fake([tool], lambda *_: {"result": result}).served() as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        _, body = await h.modern("/mcp", "tools/list")
        exposed = "ui://a/toys/view.html"
        (listed,) = body["result"]["tools"]
        assert listed == tool | {
            "name": "a__show",
            "_meta": {
                "ui": {"resourceUri": exposed, "visibility": ["app"]},
                "ui/resourceUri": exposed,
                "v/x": {"a": 1},
            },
        }
        assert (body["result"]["cacheScope"], body["result"]["resultType"]) == (
            "private",
            "complete",
        )
        _, body = await h.modern("/mcp", "tools/call", {"name": "a__show"})
        got = body["result"]
        assert [b.get("uri", b.get("resource", {}).get("uri")) for b in got["content"]] == [
            exposed,
            exposed,
            "strad+a:file:///x",
        ]
        assert got["content"][0]["vendor"] == 1
        assert got["structuredContent"] == result["structuredContent"]
        assert got["unknown"] == result["unknown"]
        assert got["_meta"]["v/y"] == [1]
        _, body = await h.modern("/mcp/a", "tools/call", {"name": "show"})
        assert body["result"] == result


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_every_listed_page_can_be_read_and_no_page_of_a_server_one_may_not_use(
    era: str,
) -> None:
    async with (
        served(sdk_app(toy_server(), era)) as url,
        house(
            [
                {"slug": "a", "url": url},
                {"slug": "no", "url": url, "access": {"people": ["bob@strad.test"]}},
            ]
        ) as h,
    ):
        _, body = await h.modern("/mcp", "resources/list")
        uris = [page["uri"] for page in body["result"]["resources"]]
        assert set(uris) == {"ui://a/toys/view.html", "strad+a:toys://catalogue"}
        for uri in uris:
            status, read = await h.modern("/mcp", "resources/read", {"uri": uri})
            assert status == 200
            assert read["result"]["contents"][0]["uri"] == uri
            if uri.startswith("ui:"):
                assert read["result"]["contents"][0]["_meta"]["ui"]["csp"]
        for uri in ("ui://no/toys/view.html", "strad+no:toys://catalogue", "toys://none", "ui://a"):
            status, read = await h.modern("/mcp", "resources/read", {"uri": uri})
            assert (status, read["error"]["code"]) == (400, -32602), uri


async def test_the_merged_view_presents_itself_with_the_extensions_of_all() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "a", "url": url}, {"slug": "b", "url": url}]) as h,
    ):
        _, body = await h.modern("/mcp", "server/discover")
        result = body["result"]
        assert result["supportedVersions"] == ["2026-07-28"]
        assert "io.modelcontextprotocol/ui" in result["capabilities"]["extensions"]
        assert result["capabilities"]["tools"] == {"listChanged": True}
        assert set(result["capabilities"]) == {"extensions", "prompts", "resources", "tools"}
        assert "a (A), b (B)" in result["instructions"]
        assert result["instructions"].count("This is toys.") == 2
        for method in ("ping", "nope"):
            status, body = await h.modern("/mcp", method)
            assert (status, body["error"]["code"]) == (404, -32601)


async def test_a_server_hears_the_capabilities_of_the_caller() -> None:
    fake = modern_fake([_tool("go")], lambda *_: {"result": DONE})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        await h.modern("/mcp", "tools/call", {"name": "a__go"})
        meta = fake.messages[-1]["params"]["_meta"]
        assert meta["io.modelcontextprotocol/clientCapabilities"] == CAPABILITIES
        assert meta["io.modelcontextprotocol/clientInfo"] == {"name": "t", "version": "1"}


async def test_arguments_wanted_in_headers_are_sent_there_for_a_caller_who_cannot() -> None:
    schema = {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    }

    def call(request: Any, message: Any) -> Any:
        if request.headers.get("Mcp-Param-Region") != message["params"]["arguments"]["region"]:
            return {"error": {"code": -32020, "message": "header missing"}}
        return {"result": DONE}

    broken = {"type": "object", "properties": {"x": {"type": "object", "x-mcp-header": "X"}}}
    tools = [
        {"name": "go", "inputSchema": schema},
        {"name": "broken", "inputSchema": broken},
    ]
    fake = modern_fake(tools, call)
    async with (
        fake.served() as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        async with h.client("/mcp", "legacy") as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["a__go"]
            result = await client.call_tool("a__go", {"region": "eu"})
            assert result.is_error is not True
        assert fake.methods.count("tools/call") == 2
