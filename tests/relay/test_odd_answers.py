"""Whatever stands where in a server's answer: it is the server's fault or nobody's, never ours."""

import asyncio
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from services.relay import policy
from tests.relay.house import House, house
from tests.relay.new_caller import LISTS, listening
from tests.relay.old_caller import OldCaller, message
from tests.relay.upstreams import Fake, modern_fake

ODD: list[Any] = [None, [], {"a": []}]
REPEATED = {"Mcp-Param-A": "1"}
LOG = {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}
PAGE = "ui://t/v.html"
CAN: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True},
    "logging": {},
    "completions": {},
    "extensions": {"e": {"a": 1}},
}
TOOL: dict[str, Any] = {
    "name": "go",
    "title": "t",
    "inputSchema": {"properties": {"a": {"type": "string", "x-mcp-header": "A"}}},
    "annotations": {"readOnlyHint": True},
    "_meta": {"ui": {"resourceUri": PAGE, "visibility": ["model"]}, "ui/resourceUri": PAGE},
}
LINK: dict[str, Any] = {"type": "resource_link", "uri": "t://a", "name": "a"}
GOOD: dict[str, dict[str, Any]] = {
    "server/discover": {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": CAN,
        "instructions": "i",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "f", "version": "1"}},
    },
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": CAN,
        "serverInfo": {"name": "f", "version": "1"},
    },
    "tools/list": {"resultType": "complete", "tools": [TOOL], "nextCursor": None},
    "resources/list": {"resources": [{"uri": "t://a", "name": "a", "title": "t"}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "t://{a}", "name": "a"}]},
    "prompts/list": {"prompts": [{"name": "p"}]},
    "tools/call": {
        "resultType": "complete",
        "content": [LINK, {"type": "resource", "resource": {"uri": "t://a"}}],
        "isError": False,
        "_meta": {"ui": {"resourceUri": PAGE}},
    },
    "prompts/get": {"messages": [{"role": "user", "content": LINK}, {"content": [LINK]}]},
    "resources/read": {"contents": [{"uri": "t://a", "text": "x"}]},
    "completion/complete": {"completion": {"values": ["a"]}},
    "logging/setLevel": {},
}
ASKED = {
    "resultType": "input_required",
    "inputRequests": {"k": {"method": "elicitation/create", "params": {"mode": "form"}}},
    "requestState": "s",
}
ERROR = {"code": -32602, "message": "no", "data": {"uri": "t://a", "supported": ["2026-07-28"]}}
PARAMS: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "go", "arguments": {"a": "1"}},
    "prompts/get": {"name": "p"},
    "resources/read": {"uri": "t://a"},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {}},
}
MERGED: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "x__go", "arguments": {"a": "1"}},
    "prompts/get": {"name": "x__p"},
    "resources/read": {"uri": "strad+x:t://a"},
    "completion/complete": {"ref": {"type": "ref/prompt", "name": "x__p"}, "argument": {}},
}


def places(value: Any) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield ()
    members = value if isinstance(value, dict) else {}
    entries = dict(enumerate(value)) if isinstance(value, list) else members
    for key, inner in entries.items():
        yield from ((key, *rest) for rest in places(inner))


def put(value: Any, place: tuple[Any, ...], odd: Any) -> Any:
    """A copy with something else in that place."""
    if not place:
        return odd
    changed = copy.deepcopy(value)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = odd
    return changed


class Odd:
    """A server of either era that answers one method oddly."""

    def __init__(self, era: str) -> None:
        self.refused = "initialize" if era == "modern" else "server/discover"
        self.method = ""
        self.outcome: dict[str, Any] = {}
        self.fake = Fake(self._answer)

    def _answer(self, request: web.Request, asked: dict[str, Any]) -> Any:
        method = asked.get("method", "")
        if request.method == "DELETE" or "id" not in asked:
            return web.Response(status=202)
        if method == self.refused:
            error = {"code": -32600, "message": "no session"}
            return web.json_response({"jsonrpc": "2.0", "id": None, "error": error}, status=400)
        answer = self.outcome if method == self.method else {"result": GOOD.get(method, {})}
        return {"id": asked["id"], **answer}

    def each(self) -> Iterator[str]:
        """Be odd in each way, one after the other; gives the method."""
        for method, good in GOOD.items():
            kinds = [("result", good), ("error", ERROR)]
            kinds += [("result", ASKED)] if method in {"tools/call", "prompts/get"} else []
            for member, value in kinds:
                for place in places(value):
                    for odd in ODD:
                        self.method, self.outcome = method, {member: put(value, place, odd)}
                        yield method


def check(what: Any, status: int, text: str) -> None:
    assert status != 500, what
    assert '"internal"' not in text, what


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_no_answer_of_a_server_is_a_fault_of_ours(era: str) -> None:
    odd = Odd(era)
    limits = {"person": 10**9, "server": 10**9}
    async with (
        odd.fake.served() as url,
        house([{"slug": "x", "url": url, "timeout": 2}], limits=limits) as h,
    ):
        h.tokens["ada"] = await h.token(expires=int(h.clock()) + 10**9)
        for method in odd.each():
            h.clock.offset += 3700  # nothing that was learned before counts any more
            asked = method if method in PARAMS or method.endswith("/list") else "tools/call"
            for path, params in (("/mcp/x", PARAMS), ("/mcp", MERGED)):
                sent = params.get(asked, {}) | LOG
                status, body = await h.modern(path, asked, sent, headers=REPEATED)
                check((odd.outcome, path), status, json.dumps(body))
        odd.method = ""
        call = PARAMS["tools/call"]
        status, body = await h.modern("/mcp/x", "tools/call", call, headers=REPEATED)
        assert status == 200, body


async def test_an_older_caller_and_the_console_hear_of_no_fault_of_ours_either() -> None:
    odd = Odd("modern")
    async with (
        odd.fake.served() as url,
        house([{"slug": "x", "url": url, "timeout": 2}], limits={"person": 10**9}) as h,
    ):
        h.tokens["ada"] = await h.token(expires=int(h.clock()) + 10**9)
        for number, method in enumerate(odd.each()):
            h.clock.offset += 700
            asked = method if method in MERGED or method.endswith("/list") else "tools/call"
            if number % 3 == 0:
                await in_a_session(h, odd, asked)
            elif number % 3 == 1:
                status, body = await h.ask(None)
                check(odd.outcome, status, json.dumps(body))


async def in_a_session(h: House, odd: Odd, asked: str) -> None:
    wanted = odd.method, odd.outcome
    odd.method = "" if wanted[0] != "server/discover" else wanted[0]
    async with h.http.post(
        h.url + "/mcp",
        json=message("initialize", 0, protocolVersion="2025-11-25", capabilities={}),
        headers=await OldCaller(h, "/mcp", "", h.url).headers(),
    ) as response:
        check(odd.outcome, response.status, await response.text())
        session = response.headers.get("Mcp-Session-Id")
    if session is None:
        return
    odd.method, odd.outcome = wanted
    caller = OldCaller(h, "/mcp", session, h.url)
    async with caller.post(message(asked, **MERGED.get(asked, {}))) as response:
        check(odd.outcome, response.status, await response.text())


async def test_odd_words_of_one_server_take_no_other_along() -> None:
    odd = Odd("modern")
    odd.method, odd.outcome = "server/discover", {"error": {"code": [], "message": "no"}}
    good = modern_fake([{"name": "go", "inputSchema": {}}])
    async with (
        odd.fake.served() as bad_url,
        good.served() as good_url,
        house([{"slug": "bad", "url": bad_url}, {"slug": "good", "url": good_url}]) as h,
    ):
        for method in ("server/discover", "tools/list"):
            status, body = await h.modern("/mcp", method)
            assert status == 200, body
            assert [one["server"] for one in body["result"]["_meta"]["strad/left-out"]] == ["bad"]


async def test_a_mistake_of_ours_with_one_server_takes_no_other_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = policy.callable_over_http

    def mistaken(server: Any, tools: list[Any]) -> list[Any]:
        return real(server, tools) if server.slug == "good" else tools[7]

    monkeypatch.setattr(policy, "callable_over_http", mistaken)
    one, other = modern_fake([{"name": "go"}]), modern_fake([{"name": "go"}])
    async with (
        one.served() as bad_url,
        other.served() as good_url,
        house([{"slug": "bad", "url": bad_url}, {"slug": "good", "url": good_url}]) as h,
    ):
        status, body = await h.modern("/mcp", "tools/list")
        assert status == 200, body
        assert [tool["name"] for tool in body["result"]["tools"]] == ["good__go"]
        left_out = body["result"]["_meta"]["strad/left-out"]
        assert left_out == [{"server": "bad", "reason": "internal"}]


async def test_a_name_that_a_server_lists_twice_is_listed_once() -> None:
    tools = [{"name": "go", "title": "first"}, {"name": "go", "title": "second"}, {"name": "on"}]
    async with modern_fake(tools).served() as url, house([{"slug": "x", "url": url}]) as h:
        _, body = await h.modern("/mcp", "tools/list")
        found = [(tool["name"], tool.get("title")) for tool in body["result"]["tools"]]
        assert found == [("x__go", "first"), ("x__on", None)]


@pytest.mark.parametrize("acknowledged", [[], None, 7, {}, {"notifications": []}])
async def test_a_stream_that_begins_oddly_is_heard_all_the_same(acknowledged: Any) -> None:
    async def listened(request: web.Request, _: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        begun = {"method": "notifications/subscriptions/acknowledged", "params": acknowledged}
        await response.write(b"data: " + json.dumps({"jsonrpc": "2.0", **begun}).encode() + b"\n\n")
        await go.wait()
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        await response.write(b"data: " + json.dumps(changed).encode() + b"\n\n")
        await asyncio.sleep(30)
        return response

    tools: list[Any] = []
    go = asyncio.Event()
    discover = {"result": GOOD["server/discover"]}
    more: dict[str, Any] = {"subscriptions/listen": listened}
    fake = modern_fake(lambda _: {"tools": tools}, **more)
    known = fake._answer
    fake._answer = lambda r, m: discover if m["method"] == "server/discover" else known(r, m)
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url}]) as h,
        listening(h, "/mcp", LISTS) as (_, heard),
    ):
        tools.append({"name": "new"})
        go.set()
        assert (await heard.next())["method"] == "notifications/tools/list_changed"
