"""`tools/list`, `resources/list` and `resources/read` of the bridge: what they answer."""

import json
from typing import Any

import pytest

from shared.contracts.identity import SessionKind
from shared.contracts.problems import Problem, ProblemKind
from tests.apphost.console import Console
from tests.apphost.fake_relay import Fault

BODIES: dict[str, dict[str, str]] = {
    "tools/list": {},
    "resources/list": {},
    "resources/read": {"uri": "toys://shelf/1"},
}
every_route = pytest.mark.parametrize("route", BODIES)


async def test_tools_that_are_not_for_pages_do_not_exist_for_a_page(
    console: Console, ada: str
) -> None:
    seen: dict[str, Any] = {
        "both": ["model", "app"],
        "app_only": ["app"],
        "model_only": ["model"],
        "nobody": [],
        "unknown_words": ["App", "apps"],
        "no_list": "app",
    }
    for name, visibility in seen.items():
        console.toys.tool(name, _meta={"ui": {"visibility": visibility}}, title=f"The {name}")
    console.toys.tool("odd", _meta={"ui": {"resourceUri": "https://evil.test"}})
    console.toys.tools.append("not a tool")  # type: ignore[arg-type]
    answer = await console.call(ada, {}, route="tools/list")
    tools = json.loads(answer.text)["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["show", "plain", "both", "app_only"]
    assert tools[2] == {
        "name": "both",
        "inputSchema": {"type": "object"},
        "_meta": {"ui": {"visibility": ["model", "app"]}},
        "title": "The both",
    }


async def test_any_address_of_the_server_is_read_from_the_server_of_the_path(
    console: Console, ada: str
) -> None:
    item = {"uri": "toys://shelf/1", "mimeType": "text/plain", "text": "three", "_meta": {"a": 1}}
    console.toys.contents["toys://shelf/1"] = [item]
    answer = await console.call(ada, BODIES["resources/read"], route="resources/read")
    assert json.loads(answer.text) == {"result": {"contents": [item]}}
    assert console.relay.asked == [
        {
            "method": "resources/read",
            "params": {"uri": "toys://shelf/1"},
            "surface": "app",
            "page": None,
            "slug": "toys",
        }
    ]


async def test_the_list_of_resources_comes_whole(console: Console, ada: str) -> None:
    console.toys.resources = [{"uri": "toys://shelf/1", "name": "One"}, {"uri": "ui://t/page"}]
    answer = await console.call(ada, {}, route="resources/list")
    assert json.loads(answer.text) == {"result": {"resources": console.toys.resources}}


async def test_an_error_of_the_server_goes_on_as_it_is(console: Console, ada: str) -> None:
    answer = await console.call(ada, {"uri": "toys://none"}, route="resources/read")
    assert answer.status == 200
    assert json.loads(answer.text) == {"error": {"code": -32002, "message": "Resource not found"}}

    def refuse(server: Any, body: Any) -> Any:
        raise Fault(-32601, "no tools here")

    console.relay._answer = refuse  # type: ignore[method-assign]
    answer = await console.call(ada, {}, route="tools/list")
    assert json.loads(answer.text)["error"]["code"] == -32601


@every_route
async def test_a_sign_in_that_may_look_may_read(console: Console, route: str) -> None:
    console.toys.contents["toys://shelf/1"] = []
    cookie = await console.sign_in(kind=SessionKind.TOKEN)
    answer = await console.call(cookie, BODIES[route], route=route)
    assert "result" in json.loads(answer.text)


@every_route
@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"null",
        b"[]",
        b"[" * 100_000,
        {"slug": "other"},
        {"cursor": "2"},
        {"uri": 7},
        {"uri": ""},
        {"uri": "x" * 2049},
        {"uri": "toys://a", "surface": "console"},
    ],
    ids=repr,
)
async def test_what_is_no_such_request_reaches_nobody(
    console: Console, ada: str, route: str, wrong: Any
) -> None:
    answer = await console.call(ada, wrong, route=route)
    assert (answer.status, answer.kind) == (400, "bad-request")
    assert console.relay.asked == []


@every_route
async def test_a_server_that_fails_is_named(console: Console, ada: str, route: str) -> None:
    console.relay.problem = Problem(ProblemKind.UPSTREAM_TIMEOUT, "Too slow.", "Wait.")
    answer = await console.call(ada, BODIES[route], route=route)
    assert (answer.status, answer.kind) == (504, "upstream-timeout")
