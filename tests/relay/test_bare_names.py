"""A page's own names in the merged view: taken where they mean one server, and not otherwise."""

from typing import Any

from tests.relay.house import House, house
from tests.relay.upstreams import modern_fake


async def _tool(h: House, name: str) -> tuple[int, Any]:
    return await h.modern("/mcp", "tools/call", {"name": name})


def _named(which: str, *tools: str) -> Any:
    done = {"resultType": "complete", "content": [{"type": "text", "text": which}]}
    listed = [{"name": tool, "inputSchema": {"type": "object"}} for tool in tools]
    return modern_fake(listed, lambda *_: {"result": done})


async def test_a_bare_tool_name_works_where_only_one_server_has_it() -> None:
    one, two = _named("one", "get-time", "both", "b__x"), _named("two", "both", "x")
    async with (
        one.served() as first,
        two.served() as second,
        house([{"slug": "a", "url": first}, {"slug": "b", "url": second}]) as h,
    ):
        status, body = await _tool(h, "get-time")
        assert (status, body["result"]["content"][0]["text"]) == (200, "one")
        status, body = await _tool(h, "both")
        assert (status, body["error"]["code"]) == (400, -32602)
        assert "a__both or b__both" in body["error"]["message"]
        # a full name is a full name: nobody can take it over with a bare one
        assert (await _tool(h, "b__x"))[1]["result"]["content"][0]["text"] == "two"
        assert (await _tool(h, "none"))[1]["error"]["message"] == "Unknown tool: none"
        assert one.methods.count("tools/call") == 1


async def test_a_bare_name_goes_to_nobody_while_its_owner_may_be_silent() -> None:
    fake = _named("two", "get-time")
    async with (
        fake.served() as url,
        house([{"slug": "a", "url": "http://127.0.0.1:9/mcp"}, {"slug": "b", "url": url}]) as h,
    ):
        status, body = await _tool(h, "get-time")
        assert (status, body["error"]["data"]) == (400, {"reason": "name-unclear"})
        assert "while a is silent" in body["error"]["message"]
        assert (await _tool(h, "b__get-time"))[0] == 200
        assert fake.methods.count("tools/call") == 1


async def test_a_resource_is_read_by_its_own_address_where_only_one_server_lists_it() -> None:
    def shelf(which: str, *uris: str) -> Any:
        def read(_: Any, message: Any) -> Any:
            uri = message["params"]["uri"]
            return {"result": {"resultType": "complete", "contents": [{"uri": uri, "text": which}]}}

        listed = [{"uri": uri, "name": uri} for uri in uris]
        listing = {"result": {"resultType": "complete", "resources": listed}}
        return modern_fake(**{"resources/list": lambda *_: listing, "resources/read": read})

    page = "ui://toys/view.html"
    async with (
        shelf("one", "books://x", page, "books://both").served() as one,
        shelf("two", "books://both").served() as two,
    ):
        both = [{"slug": "a", "url": one}, {"slug": "b", "url": two}]
        async with house(both) as h:
            _, body = await h.modern("/mcp", "resources/read", {"uri": "books://x"})
            assert body["result"]["contents"] == [{"uri": "books://x", "text": "one"}]
            for uri, told in (
                (page, f"Unknown resource: {page}"),
                ("books://both", "strad+a:books://both or strad+b:books://both"),
                ("books://none", "Unknown resource: books://none"),
                ("strad+c:books://x", "Unknown resource: strad+c:books://x"),
            ):
                status, body = await h.modern("/mcp", "resources/read", {"uri": uri})
                assert (status, body["error"]["code"]) == (400, -32602)
                assert told in body["error"]["message"]
        both[1]["url"] = "http://127.0.0.1:9/mcp"
        async with house(both) as h:
            status, body = await h.modern("/mcp", "resources/read", {"uri": "books://x"})
            assert (status, body["error"]["data"]) == (400, {"reason": "name-unclear"})


async def test_a_denied_bare_name_is_unknown() -> None:
    fake = _named("one", "ok", "del")
    async with (
        fake.served() as url,
        house([{"slug": "a", "url": url, "tools": {"deny": ["del"]}}]) as h,
    ):
        denied, unknown = await _tool(h, "del"), await _tool(h, "nil")
        assert str(denied).replace("del", "nil") == str(unknown)
        assert "tools/call" not in fake.methods


async def test_nobody_inherits_the_names_of_a_server_that_is_gone() -> None:
    stolen = ["wiki__delete", "ui://wiki/page.html", "strad+wiki:books://x"]
    resources = [{"uri": uri, "name": "x"} for uri in stolen]
    heard = _named("two", *stolen)
    answer = heard._answer

    def lists(request: Any, message: Any) -> Any:
        if message["method"] == "resources/list":
            return {"result": {"resultType": "complete", "resources": resources}}
        return answer(request, message)

    heard._answer = lists
    async with heard.served() as url, house([{"slug": "b", "url": url}]) as h:
        status, body = await _tool(h, "wiki__delete")
        assert (status, body["error"]["message"]) == (400, "Unknown tool: wiki__delete")
        for uri in stolen[1:]:
            status, body = await h.modern("/mcp", "resources/read", {"uri": uri})
            assert (status, body["error"]["code"]) == (400, -32602)
        assert not {"tools/call", "resources/read"} & set(heard.methods)
        # what looks like no server's name may be a tool's own
        assert (await _tool(h, "b__wiki__delete"))[0] == 200
