"""The merged view is a whole server: lists, pages, prompts, completion, in both eras of caller."""

import asyncio
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from mcp_types import Completion, PromptReference, ResourceTemplateReference

from tests.relay.house import house
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


@pytest.mark.parametrize(
    ("error", "data"),
    [
        ({"code": -32002}, {"uri": "strad+a:books://x"}),
        ({"code": 0, "data": {"x": 1}}, {"uri": "strad+a:books://x", "x": 1}),
        ({"code": -32002, "data": ["odd"]}, ["odd"]),
    ],
)
async def test_an_older_servers_word_for_a_missing_resource_becomes_the_newer_one(
    error: Any, data: Any
) -> None:
    def missing(*_: Any) -> Any:
        return {"error": {"message": "gone", **error}}

    async with (
        modern_fake(**{"resources/read": missing}).served() as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        status, body = await h.modern("/mcp", "resources/read", {"uri": "strad+a:books://x"})
        assert (status, body["error"]["code"]) == (400, -32602)
        assert body["error"]["data"] == data


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


async def test_the_only_server_fails_for_its_own_reason() -> None:
    async def hang(*_: Any) -> None:
        await asyncio.sleep(30)

    async with (
        modern_fake(**{"tools/list": hang}).served() as url,
        house([{"slug": "a", "url": url, "timeout": 1}]) as h,
    ):
        status, body = await h.modern("/mcp", "tools/list")
        assert (status, body["error"]["data"]["kind"]) == (504, "upstream-timeout")
        assert "A did not answer in time" in body["error"]["message"]


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


NASTY = [
    "",
    " ",
    "a",
    "a__b",
    "__",
    "b__go",
    "Ünïcödé",
    "🧸" * 40,
    "x" * 64,
    "x" * 200,
    "tab\there\nand there",
    "../../etc",
    "strad+b:x",
    "ui://b/x",
    "%2e%2e",
    "go-aaaaaaaaaa",
    "=?base64?eA==?=",
    "{+path}",
]


async def test_whatever_servers_call_things_each_name_leads_to_its_own() -> None:
    heard: list[tuple[str, str, Any]] = []

    def server(which: str) -> Any:
        def hear(_: Any, message: Any) -> Any:
            params = message["params"]
            heard.append((which, message["method"], params.get("name", params.get("uri"))))
            result = {"resultType": "complete", "content": [], "messages": [], "contents": []}
            return {"result": result}

        def lists(member: str, key: str) -> Any:
            entries = [{"name": "x", "inputSchema": {}} | {key: name} for name in NASTY]
            return lambda *_: {"result": {"resultType": "complete", member: entries}}

        return modern_fake(
            **{
                "tools/list": lists("tools", "name"),
                "prompts/list": lists("prompts", "name"),
                "resources/list": lists("resources", "uri"),
                "tools/call": hear,
                "prompts/get": hear,
                "resources/read": hear,
            }
        )

    asked = [
        ("tools/list", "tools", "name", "tools/call"),
        ("prompts/list", "prompts", "name", "prompts/get"),
        ("resources/list", "resources", "uri", "resources/read"),
    ]
    async with (
        server("a").served() as one,
        server("b").served() as two,
        house([{"slug": "a", "url": one}, {"slug": "b", "url": two}]) as h,
    ):
        for listing, member, key, use in asked:
            heard.clear()
            _, body = await h.modern("/mcp", listing)
            shown = [entry[key] for entry in body["result"][member]]
            assert len(set(shown)) == 2 * len(NASTY)
            for name in shown:
                status, body = await h.modern("/mcp", use, {key: name})
                assert status == 200, (use, name, body)
            assert heard == [(which, use, name) for which in "ab" for name in NASTY]
