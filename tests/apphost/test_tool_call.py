"""`POST /apps/<slug>/tools/call`: its own locks, and what passes."""

import json
from typing import Any

import pytest

from shared.contracts.identity import SessionKind
from shared.contracts.wire import SESSION_COOKIE
from shared.web import body
from tests.apphost.console import Console
from tests.apphost.fake_relay import Fault
from tests.slow import unfinished

CALL = {"name": "show", "arguments": {"a": 1}, "page": "ui://t/page", "surface": "app"}


async def test_a_call_reaches_the_server_of_the_path(console: Console, ada: str) -> None:
    result = {"content": [], "structuredContent": {"n": 1}, "_meta": {"x": "y"}, "isError": True}
    console.toys.on_call = lambda _: result
    answer = await console.call(ada, CALL)
    assert answer.status == 200
    assert json.loads(answer.text) == {"result": result}
    assert console.relay.calls() == [
        {
            "method": "tools/call",
            "params": {"name": "show", "arguments": {"a": 1}},
            "surface": "app",
            "page": "ui://t/page",
            "slug": "toys",
        }
    ]


@pytest.mark.parametrize("surface", ["app", "open", "run"])
async def test_the_surface_is_told_to_the_relay(console: Console, ada: str, surface: str) -> None:
    await console.call(ada, CALL | {"surface": surface})
    assert console.relay.calls()[0]["surface"] == surface


async def test_an_error_of_the_server_goes_on_as_it_is(console: Console, ada: str) -> None:
    def refuse(_: Any) -> Any:
        raise Fault(-32602, "no such toy")

    console.toys.on_call = refuse
    answer = await console.call(ada, CALL)
    assert answer.status == 200
    assert json.loads(answer.text) == {"error": {"code": -32602, "message": "no such toy"}}


async def test_a_look_only_session_calls_nothing_on_any_surface(console: Console) -> None:
    cookie = await console.sign_in(kind=SessionKind.TOKEN)
    for surface in ("app", "open", "run"):
        answer = await console.call(cookie, CALL | {"surface": surface})
        assert (answer.status, answer.kind) == (403, "forbidden")
    assert console.relay.asked == []


async def test_a_look_only_session_is_refused_before_its_body_is_read(console: Console) -> None:
    cookie = await console.sign_in(kind=SessionKind.TOKEN)
    answer = await console.call(cookie, b"not json", slug="nosuch")
    assert answer.status == 403


MALFORMED: list[Any] = [
    b"",
    b"not json",
    b"null",
    b"[]",
    b'"x"',
    b'{"name": "show", "arguments": {"a": NaN}, "page": "ui://t/page", "surface": "app"}',
    b"[" * 100_000,
    b"\xff\xfe",
    {key: value for key, value in CALL.items() if key != "surface"},
    CALL | {"surface": "client"},
    CALL | {"surface": "console"},
    CALL | {"surface": "APP"},
    CALL | {"slug": "other"},
    CALL | {"method": "tools/list"},
    CALL | {"name": ""},
    CALL | {"name": 7},
    CALL | {"name": "x" * 257},
    CALL | {"arguments": []},
    CALL | {"arguments": None},
    CALL | {"page": "https://evil.test"},
    CALL | {"page": None},
]


@pytest.mark.parametrize("body", MALFORMED, ids=[repr(body)[:40] for body in MALFORMED])
async def test_what_is_no_call_is_refused_and_reaches_nobody(
    console: Console, ada: str, body: Any
) -> None:
    answer = await console.call(ada, body)
    assert (answer.status, answer.kind) == (400, "bad-request")
    assert console.relay.asked == []


async def test_a_body_beyond_the_limit_is_413(console: Console, ada: str) -> None:
    answer = await console.call(ada, CALL | {"arguments": {"x": "y" * 1_100_000}})
    assert (answer.status, answer.kind) == (413, "too-large")


@pytest.mark.parametrize(
    "name", ["other__show", "../other/show", "other/show", "show\0", "\uff53how", "x" * 256]
)
async def test_a_name_cannot_lead_to_another_server(console: Console, ada: str, name: str) -> None:
    await console.call(ada, CALL | {"name": name})
    assert {one["slug"] for one in console.relay.calls()} == {"toys"}
    assert console.relay.calls()[0]["params"]["name"] == name


@pytest.mark.parametrize(
    "path", ["/apps/toys%2F..%2Fother/tools/call", "/apps/TOYS/tools/call", "/apps//tools/call"]
)
async def test_a_slug_is_a_slug_or_there_is_nothing(console: Console, ada: str, path: str) -> None:
    headers = {"Origin": console.url, "Content-Type": "application/json"}
    answer = await console.send("POST", path, ada, headers, CALL)
    assert answer.status == 404
    assert console.relay.asked == []


async def test_a_call_cannot_be_held_back_until_its_session_has_ended(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "SECONDS", 0.2)
    headers = {
        "Cookie": f"{SESSION_COOKIE}={await console.sign_in()}",
        "Origin": console.url,
        "Content-Type": "application/json",
    }
    assert b" 408 " in await unfinished(f"{console.url}/apps/toys/tools/call", headers)
