"""The merged view is a whole server: lists, pages, prompts, completion, in both eras of caller."""

from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from mcp_types import Completion, PromptReference, ResourceTemplateReference

from tests.relay.house import House, house
from tests.relay.upstreams import modern_fake, sdk_app, served

MODES = ("legacy", "auto")
ERAS = ("legacy", "modern")
LONG = "tell_" + "very_" * 20 + "much"


def library(name: str) -> MCPServer:
    """A server with prompts, templates and completion."""
    server = MCPServer(name, instructions=f"I am {name}.")

    @server.prompt()
    def tell(topic: str) -> str:
        return f"{name} tells of {topic}"

    @server.prompt(LONG)
    def tell_all() -> str:
        return f"{name} tells all"

    @server.resource("books://{title}/text")
    def book(title: str) -> str:
        return f"{title} of {name}"

    @server.tool()
    def only_here(topic: str) -> str:
        return f"{topic} in {name}"

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(ref: Any, argument: Any, _: Any) -> Completion:
        where = ref.name if isinstance(ref, PromptReference) else ref.uri
        return Completion(values=[name, where, argument.value])

    return server


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("era", ERAS)
async def test_prompts_templates_and_completions_go_to_their_own_server(
    mode: str, era: str
) -> None:
    async with (
        served(sdk_app(library("one"), era)) as one,
        served(sdk_app(library("two"), era)) as two,
        house([{"slug": "a", "url": one}, {"slug": "b", "url": two}]) as h,
        h.client("/mcp", mode) as client,
    ):
        prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert prompts[0] == "a__tell"
        assert len(set(prompts)) == 4
        assert all(len(name) <= 64 for name in prompts)
        said = await client.get_prompt("b__tell", {"topic": "bears"})
        assert said.messages[0].content.text == "two tells of bears"  # type: ignore[union-attr]
        said = await client.get_prompt(prompts[1])
        assert said.messages[0].content.text == "one tells all"  # type: ignore[union-attr]

        listed = (await client.list_resource_templates()).resource_templates
        templates = [template.uri_template for template in listed]
        assert templates == ["strad+a:books://{title}/text", "strad+b:books://{title}/text"]
        read = await client.read_resource(templates[1].replace("{title}", "Emma"))
        assert read.contents[0].text == "Emma of two"  # type: ignore[union-attr]
        assert str(read.contents[0].uri) == "strad+b:books://Emma/text"

        refs: list[Any] = [
            PromptReference(type="ref/prompt", name="a__tell"),
            PromptReference(type="ref/prompt", name=prompts[3]),
            ResourceTemplateReference(type="ref/resource", uri=templates[0]),
        ]
        values = [
            (await client.complete(ref, {"name": "topic", "value": "x"})).completion.values
            for ref in refs
        ]
        assert values == [
            ["one", "tell", "x"],
            ["two", LONG, "x"],
            ["one", "books://{title}/text", "x"],
        ]
        assert client.server_capabilities is not None
        assert client.server_capabilities.completions is not None
        assert "I am one." in str(client.instructions)


async def test_what_leads_nowhere_is_refused_and_asks_no_server() -> None:
    fake = modern_fake([])
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        wrong: list[tuple[str, dict[str, Any]]] = [
            ("prompts/get", {"name": "tell"}),
            ("prompts/get", {"name": "b__tell"}),
            ("completion/complete", {"ref": {"type": "ref/prompt", "name": "b__tell"}}),
            ("completion/complete", {"ref": {"type": "ref/resource", "uri": "books://x"}}),
            ("completion/complete", {"ref": {"type": "ref/other", "name": "a__tell"}}),
            ("completion/complete", {}),
        ]
        for method, params in wrong:
            status, body = await h.modern("/mcp", method, params)
            assert (status, body["error"]["code"]) == (400, -32602), method
        assert fake.messages == []


async def test_messages_of_a_prompt_and_nothing_else_of_it_are_rewritten() -> None:
    link = {
        "type": "resource_link",
        "uri": "books://x",
        "name": "x",
        "vendor": {"uri": "books://x"},
    }
    inside = {"type": "resource", "resource": {"uri": "ui://x/y", "text": "t", "_meta": {"a": 1}}}
    text = {"type": "text", "text": "books://x", "uri": "books://x"}
    messages = [
        {"role": "user", "content": link},
        {"role": "assistant", "content": [inside, text, "odd"], "vendor": 1},
    ]
    result = {"resultType": "complete", "messages": messages, "uri": "books://x", "n": 1.5}
    fake = modern_fake(**{"prompts/get": lambda *_: {"result": result}})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        _, body = await h.modern("/mcp", "prompts/get", {"name": "a__x"})
        link["uri"] = "strad+a:books://x"
        inside["resource"]["uri"] = "ui://a/x/y"  # type: ignore[index]
        body["result"].pop("_meta")
        assert body["result"] == result


async def test_an_error_about_an_address_names_the_address_that_was_asked_for() -> None:
    def missing(_: Any, message: Any) -> Any:
        uri = message["params"]["uri"]
        return {"error": {"code": -32002, "message": "gone", "data": {"uri": uri, "x": 1}}}

    async with (
        modern_fake(**{"resources/read": missing}).served() as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        status, body = await h.modern("/mcp", "resources/read", {"uri": "strad+a:books://x"})
        assert (status, body["error"]["code"]) == (400, -32602)
        assert body["error"]["data"] == {"uri": "strad+a:books://x", "x": 1}


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
            for uri in ("books://x", page):
                _, body = await h.modern("/mcp", "resources/read", {"uri": uri})
                assert body["result"]["contents"] == [{"uri": uri, "text": "one"}]
            for uri, told in (
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


async def test_a_server_without_prompts_is_not_missing_and_one_that_fails_is() -> None:
    def broken(*_: Any) -> Any:
        return {"error": {"code": -32603, "message": "no"}}

    async with (
        modern_fake([]).served() as none,
        modern_fake(**{"prompts/list": broken}).served() as fails,
        house([{"slug": "a", "url": none}, {"slug": "b", "url": fails}]) as h,
    ):
        _, body = await h.modern("/mcp", "prompts/list")
        assert body["result"]["prompts"] == []
        left_out = body["result"]["_meta"]["strad/left-out"]
        assert left_out == [{"server": "b", "reason": "upstream-refused"}]
        _, body = await h.modern("/mcp?servers=a,b", "resources/templates/list")
        assert body["result"]["resourceTemplates"] == []
        assert "strad/left-out" not in body["result"]["_meta"]


async def test_when_all_fail_each_is_named() -> None:
    dead = "http://127.0.0.1:9/mcp"
    async with house([{"slug": slug, "url": dead} for slug in ("a", "b")]) as h:
        for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
            status, body = await h.modern("/mcp", method)
            assert status == 502
            assert "a (upstream-unreachable), b (upstream-unreachable)" in body["error"]["message"]
        _, body = await h.modern("/mcp", "server/discover")
        # nobody knows what they can do: a caller must not conclude that it is nothing
        assert {"tools", "prompts", "resources", "completions"} <= set(
            body["result"]["capabilities"]
        )
        assert len(body["result"]["_meta"]["strad/left-out"]) == 2


async def test_extensions_of_all_servers_are_united_and_the_first_has_the_word() -> None:
    def introduces(extensions: Any) -> Any:
        def answer(*_: Any) -> Any:
            result = {
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"extensions": extensions},
            }
            return {"result": result}

        fake = modern_fake([])
        normal = fake._answer

        def say(request: Any, message: Any) -> Any:
            asked = message.get("method") == "server/discover"
            return answer() if asked else normal(request, message)

        fake._answer = say
        return fake

    async with (
        introduces({"x/y": {"a": 1}, "only/one": {}}).served() as one,
        introduces({"x/y": {"a": 2, "b": 3}, "odd/two": 7}).served() as two,
        introduces("no object").served() as three,
        house(
            [
                {"slug": "a", "url": one},
                {"slug": "b", "url": two},
                {"slug": "c", "url": three},
            ]
        ) as h,
    ):
        _, body = await h.modern("/mcp", "server/discover")
        assert body["result"]["capabilities"] == {
            "tools": {},
            "extensions": {"x/y": {"a": 1, "b": 3}, "only/one": {}, "odd/two": 7},
        }
