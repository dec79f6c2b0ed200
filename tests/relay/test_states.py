"""`requestState` for callers of 2026-07-28: sealed on its way out, opened on its way back."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from mcp_types import ElicitResult, TextContent, TextResourceContents

from services.relay.merged.names import expose_uri
from tests.relay.asking import asking_server
from tests.relay.house import House, house
from tests.relay.twins import twin
from tests.relay.upstreams import LegacyFake, modern_fake, sdk_app, served

BOTH = {"people": ["ada@strad.test", "bob@strad.test"]}
VIEWS = [("/mcp/a", ""), ("/mcp?servers=a", ""), ("/mcp", "a__"), ("/mcp?servers=a,b", "a__")]
NOT_THIS = "state-not-for-this-call"


async def _fill(_: Any, params: Any) -> ElicitResult:
    if params.mode == "url":
        return ElicitResult(action="accept")
    field = params.requested_schema["required"][0]
    return ElicitResult(action="accept", content={field: f"my {field}"})


@pytest.mark.parametrize(("view", "prefix"), VIEWS)
async def test_a_client_is_asked_and_answers_through_every_view(view: str, prefix: str) -> None:
    async with (
        served(sdk_app(asking_server(), "modern")) as url,
        house([{"slug": "a", "url": url}, {"slug": "b", "url": url}]) as h,
        h.client(view, "auto", elicitation_callback=_fill) as client,
    ):
        expected = {
            "paint": "bear my colour after painting",
            "order": "my size paid accept",
            "dress": "my hat hat;my coat coat;my shoes shoes;",
            "wait": "waited",
            "forget": "my name",
        }
        for tool, text in expected.items():
            arguments = {"thing": "bear"} if tool == "paint" else {}
            done = await client.call_tool(prefix + tool, arguments)
            assert isinstance(done.content[0], TextContent)
            assert done.content[0].text == text


@pytest.mark.parametrize(("view", "prefix"), VIEWS)
async def test_prompts_and_resources_ask_too(view: str, prefix: str) -> None:
    async with (
        served(sdk_app(asking_server(), "modern")) as url,
        house([{"slug": "a", "url": url}, {"slug": "b", "url": url}]) as h,
        h.client(view, "auto", elicitation_callback=_fill) as client,
    ):
        poem = (await client.get_prompt(f"{prefix}poem")).messages[0].content
        assert isinstance(poem, TextContent)
        assert poem.text == "A poem of my theme"
        uri = expose_uri("a", "asking://left") if prefix else "asking://left"
        book = (await client.read_resource(uri)).contents[0]
        assert isinstance(book, TextResourceContents)
        assert book.text == "my title from left"


def _trusting(result: bytes | None = None, *, stream: bool = False) -> Any:
    """A server that asks with the state "secret", and believes whatever comes back."""

    def answer(_: Any, message: Any) -> Any:
        if "requestState" in message["params"] or "inputResponses" in message["params"]:
            return {"result": {"resultType": "complete", "content": [], "contents": []}}
        asked = result or b'{"resultType":"input_required","requestState":"secret"}'
        raw = b'{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(message["id"]).encode(), asked)
        if not stream:
            return web.Response(body=raw, content_type="application/json")
        data = b"\n".join(b"data: " + line for line in raw.split(b"\n"))
        return web.Response(
            body=b": hello\n\nid: 1\n" + data + b"\n\n", content_type="text/event-stream"
        )

    tools: Any = [{"name": name, "inputSchema": {}} for name in ("go", "other")]
    methods = ("resources/read", "prompts/get")
    return modern_fake(tools, answer, **dict.fromkeys(methods, answer))


@pytest.mark.parametrize(("view", "prefix"), VIEWS)
async def test_a_state_opens_nothing_but_the_call_that_it_came_from(view: str, prefix: str) -> None:
    fake = _trusting()
    servers = [{"slug": slug, "access": BOTH} for slug in ("a", "b")]
    async with fake.served() as url, house([s | {"url": url} for s in servers]) as h:
        call = {"name": f"{prefix}go", "arguments": {"n": 1}}
        _, asked = await h.modern(view, "tools/call", call)
        sealed = asked["result"]["requestState"]
        assert "secret" not in sealed
        again = call | {"requestState": sealed, "inputResponses": {}}
        heard = len(fake.messages)
        attacks: list[tuple[str, str, Any, str]] = [
            ("bob", view, again, NOT_THIS),
            ("ada", "/mcp/b", again | {"name": "go"}, NOT_THIS),
            ("ada", "/mcp", again | {"name": "b__go"}, NOT_THIS),
            ("ada", view, again | {"name": f"{prefix}other"}, NOT_THIS),
            ("ada", view, again | {"arguments": {"n": 2}}, NOT_THIS),
            ("ada", view, {"name": call["name"], "requestState": sealed}, NOT_THIS),
            ("ada", view, again | {"requestState": "secret"}, NOT_THIS),
            ("ada", view, again | {"requestState": ""}, NOT_THIS),
            ("ada", view, again | {"requestState": "\ud800"}, NOT_THIS),
            ("ada", view, again | {"requestState": sealed[:40] + "AAAA" + sealed[44:]}, NOT_THIS),
            ("ada", view, again | {"requestState": {"a": 1}}, "state-malformed"),
            ("ada", view, again | {"requestState": None}, "state-malformed"),
        ]
        for name, path, params, reason in attacks:
            status, refused = await h.modern(path, "tools/call", params, name=name)
            assert (status, refused["error"]["code"]) == (400, -32602), refused
            assert refused["error"]["data"] == {"reason": reason}
        assert "tools/call" not in fake.methods[heard:]

        for _ in range(2):  # twice the same is a retry, which only the server can refuse
            status, done = await h.modern(view, "tools/call", again)
            assert (status, done["result"]["resultType"]) == (200, "complete")
        assert fake.messages[-1]["params"]["requestState"] == "secret"

        h.clock.offset += 601
        _, late = await h.modern(view, "tools/call", again)
        assert late["error"]["data"] == {"reason": "state-expired"}


async def test_a_question_says_nothing_of_how_long_it_may_be_kept() -> None:
    async with _trusting().served() as url, house([{"slug": "a", "url": url}]) as h:
        uri = expose_uri("a", "x://y")
        _, asked = await h.modern("/mcp", "resources/read", {"uri": uri})
    assert asked["result"]["resultType"] == "input_required"
    assert not {"ttlMs", "cacheScope"} & set(asked["result"])


async def test_a_state_of_one_method_opens_no_other() -> None:
    fake = _trusting()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        params: dict[str, Any] = {
            "tools/call": {"name": "go", "uri": "go"},
            "prompts/get": {"name": "go", "uri": "go"},
            "resources/read": {"uri": "go"},
        }
        states = {}
        for method, given in params.items():
            _, asked = await h.modern("/mcp/a", method, given)
            states[method] = asked["result"]["requestState"]
        for method, given in params.items():
            for other, state in states.items():
                answer = (await h.modern("/mcp/a", method, given | {"requestState": state}))[1]
                assert ("result" in answer) == (method == other)


async def test_the_consoles_state_for_a_server_that_gave_none_is_none_for_a_client() -> None:
    asking = b'{"resultType":"input_required","inputRequests":{}}'
    async with _trusting(asking).served() as url, house([{"slug": "a", "url": url}]) as h:
        params: Any = {"name": "go", "arguments": {}}
        body = {"method": "tools/call", "params": params, "surface": "app", "page": "ui://a/b"}
        _, asked = await h.ask("a", body)
        params = params | {"requestState": asked["result"]["requestState"]}
        _, refused = await h.modern("/mcp/a", "tools/call", params)
        assert refused["error"]["data"] == {"reason": NOT_THIS}


_ODD = (
    b'{ "n": 0.10000000000000000001, "big":1e999, "resultType":"input_required",\n'
    b' "inputRequests": {"requestState": {"requestState": "secret"}},\n'
    b'  "requestState" : "se\\u0063ret" , "_meta":{"requestState":"kept","z":-0.0} }'
)


@pytest.mark.parametrize("stream", [False, True])
async def test_beside_the_state_not_one_byte_changes(stream: bool) -> None:
    fake = _trusting(_ODD, stream=stream)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        text = await _raw(h, {"name": "go"})
        if stream:
            assert text.startswith(": hello\n\nid: 1\ndata: {")
            text = "\n".join(line.removeprefix("data: ") for line in text.split("\n"))
        before, after = _ODD.decode().split('"se\\u0063ret"')
        start, rest = text.split(before)
        assert start.endswith('"result":')
        sealed, end = rest.split(after)
        state = json.loads(sealed)
        _, done = await h.modern("/mcp/a", "tools/call", {"name": "go", "requestState": state})
        assert done["result"]["resultType"] == "complete"
        assert fake.messages[-1]["params"]["requestState"] == "secret"
        assert end == ("}\n\n" if stream else "}")


async def test_a_request_keeps_its_bytes_beside_the_state_too() -> None:
    bodies: list[bytes] = []

    async def keep(request: web.Request, message: Any) -> Any:
        bodies.append(await request.read())
        return _trusting()._answer(request, message)

    fake = modern_fake([], keep)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        _, asked = await h.modern("/mcp/a", "tools/call", {"name": "go", "arguments": {"n": 1}})
        sealed = asked["result"]["requestState"]
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        body = (
            b'{ "jsonrpc":"2.0","id":1, "method":"tools/call", "params": {"_meta":%s,"x": 1e999,\n'
            b'"requestState" : "%s", "arguments":{"n" : 1 },"name":"go"} }'
        )
        sent = body % (json.dumps(meta).encode(), sealed.encode())
        headers = {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "go",
        }
        status, _ = await h.send("/mcp/a", sent, headers=headers)
        assert status == 200
        assert bodies[-1] == body % (json.dumps(meta).encode(), b"secret")


@pytest.mark.parametrize(
    "result",
    [
        b'{"resultType":"complete","requestState":"secret","content":[]}',
        b'{"resultType":"input_required","requestState":7}',
        b'{"resultType":"input_required","inputRequests":{},"x":1e999}',
        b'{"content":[{"requestState":"secret"}]}',
    ],
)
async def test_an_answer_without_a_state_passes_as_it_is(result: bytes) -> None:
    async with _trusting(result).served() as url, house([{"slug": "a", "url": url}]) as h:
        assert result.decode() in await _raw(h, {"name": "go"})


async def test_any_relay_opens_what_another_has_sealed() -> None:
    fake = _trusting()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h, twin(h) as other:
        for view, name in (("/mcp/a", "go"), ("/mcp", "a__go")):
            call: Any = {"name": name}
            _, asked = await h.modern(view, "tools/call", call)
            call = call | {"requestState": asked["result"]["requestState"]}
            host = {"Host": h.url.removeprefix("http://")}
            mine, h.url = h.url, other
            _, done = await h.modern(view, "tools/call", call, headers=host)
            h.url = mine
            assert done["result"]["resultType"] == "complete"


async def test_a_new_token_of_the_same_person_goes_on() -> None:
    async with _trusting().served() as url, house([{"slug": "a", "url": url}]) as h:
        _, asked = await h.modern("/mcp/a", "tools/call", {"name": "go"})
        del h.tokens["ada"]
        again = {"name": "go", "requestState": asked["result"]["requestState"]}
        _, done = await h.modern("/mcp/a", "tools/call", again)
        assert done["result"]["resultType"] == "complete"


async def test_an_older_server_hears_of_no_state_that_is_not_its_own() -> None:
    fake = LegacyFake()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for state in ("made-up", 1):
            _, refused = await h.modern(
                "/mcp/a", "tools/call", {"name": "go", "requestState": state}
            )
            assert refused["error"]["code"] == -32602
        assert fake.calls == []


async def _raw(h: House, params: Any) -> str:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {**params, "_meta": meta},
    }
    headers = await h.bearer() | {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": params["name"],
    }
    async with (
        asyncio.timeout(10),
        h.http.post(h.url + "/mcp/a", json=message, headers=headers) as response,
    ):
        return await response.text()
