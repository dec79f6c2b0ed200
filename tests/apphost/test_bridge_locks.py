"""What every route of the bridge refuses alike, before it is asked what it is for."""

import json
from typing import Any

import pytest

from tests.apphost.console import Console

BODIES: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "show", "arguments": {}, "page": "ui://t/page", "surface": "app"},
    "tools/list": {},
    "resources/list": {},
    "resources/read": {"uri": "toys://shelf/1"},
}
every_route = pytest.mark.parametrize("route", BODIES)

CROSS_ORIGIN = (403, "cross-origin")
NOT_JSON = (415, "unsupported-media-type")
FOREIGN: list[tuple[dict[str, str], tuple[int, str]]] = [
    ({"Origin": ""}, CROSS_ORIGIN),
    ({"Origin": "null"}, CROSS_ORIGIN),
    ({"Origin": "https://evil.test"}, CROSS_ORIGIN),
    ({"Sec_Fetch_Site": "cross-site"}, CROSS_ORIGIN),
    ({"Sec_Fetch_Site": "same-site"}, CROSS_ORIGIN),
    ({"Sec_Fetch_Site": "none"}, CROSS_ORIGIN),
    ({"Content_Type": "application/octet-stream"}, NOT_JSON),
    ({"Content_Type": "text/plain"}, NOT_JSON),
    ({"Content_Type": "application/x-www-form-urlencoded"}, NOT_JSON),
    ({"Content_Type": "multipart/form-data; boundary=x"}, NOT_JSON),
    ({"Content_Type": "application/json, text/plain"}, NOT_JSON),
    ({"Host": "evil.test"}, (421, "wrong-host")),
]


@every_route
@pytest.mark.parametrize(("headers", "refusal"), FOREIGN, ids=lambda one: str(one)[:50])
async def test_a_request_of_another_site_runs_nothing(
    console: Console, ada: str, route: str, headers: dict[str, str], refusal: tuple[int, str]
) -> None:
    body = json.dumps(BODIES[route]).encode()
    answer = await console.call(ada, body, route=route, **headers)
    assert (answer.status, answer.kind) == refusal
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert console.relay.asked == []


@every_route
async def test_a_signed_out_request_is_401_and_no_redirect(console: Console, route: str) -> None:
    answer = await console.call(None, BODIES[route], route=route)
    assert (answer.status, answer.kind) == (401, "sign-in-needed")
    assert console.relay.asked == []


@every_route
async def test_not_entitled_and_unknown_are_one_answer(
    console: Console, charles: str, route: str
) -> None:
    texts = []
    for slug in ("toys", "nosuch"):
        answer = await console.call(charles, BODIES[route], slug=slug, route=route)
        assert answer.status == 404
        texts.append({**json.loads(answer.text), "request_id": ""})
    assert json.dumps(texts[0]) == json.dumps(texts[1]).replace("nosuch", "toys")


@every_route
async def test_a_get_is_405(console: Console, ada: str, route: str) -> None:
    answer = await console.get(f"/apps/toys/{route}", ada)
    assert answer.status == 405
    assert answer.headers["Allow"] == "POST"
