"""The base of every surface: what is checked before a handler runs, and in which order."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from yarl import URL

from shared.contracts.config import Config
from shared.contracts.identity import Person, Principal, SessionKind
from shared.contracts.wire import Service
from shared.stores.kv import StoreUnavailable
from shared.web import body
from shared.web.app import build
from shared.web.origin import require_json
from shared.web.problems import renderer
from shared.web.routes import PRINCIPAL, Access, Answer, Route

PUBLIC = "https://strad.test"
HOST = {"Host": "strad.test"}
SAME = {**HOST, "Origin": PUBLIC, "Sec-Fetch-Site": "same-origin"}


def config() -> Config:
    return Config.model_validate(
        {
            "public_url": PUBLIC,
            "provider": {
                "client_id": "x",
                "client_secret": {"env": "X"},
                "allow": {"domains": ["strad.test"]},
            },
            "administrators": ["ada@strad.test"],
        }
    )


async def identify(request: web.Request) -> Principal | None:
    email = request.headers.get("Test-Person")
    if email is None:
        return None
    person = Person(issuer="i", sub="s", email=email, name="Somebody")
    return Principal(person=person, digest="d", session_kind=SessionKind.OIDC)


async def hello(request: web.Request) -> web.Response:
    principal = request.get(PRINCIPAL)
    return web.json_response({"who": principal.person.email if principal else None})


async def broken(_: web.Request) -> web.Response:
    raise RuntimeError("secret inside")


async def no_store(_: web.Request) -> web.Response:
    raise StoreUnavailable("redis://inside:6379")


async def json_only(request: web.Request) -> web.Response:
    require_json(request)
    return web.json_response(json.loads(await body.read(request)))


async def shut(_: web.Request) -> web.Response:
    return web.Response(text="guard first", status=418)


ROUTES = [
    Route("GET", "/public", hello, Access.PUBLIC, Answer.JSON),
    Route("GET", "/mine", hello, Access.SIGNED_IN, Answer.JSON),
    Route("GET", "/page", hello, Access.SIGNED_IN),
    Route("GET", "/frame", hello, Access.SIGNED_IN, Answer.FRAME),
    Route("POST", "/mine", hello, Access.SIGNED_IN, Answer.JSON),
    Route("GET", "/admin", hello, Access.ADMIN, Answer.JSON),
    Route("GET", "/guarded", hello, Access.SIGNED_IN, Answer.JSON, guard=shut),
    Route("GET", "/broken", broken, Access.PUBLIC, Answer.JSON),
    Route("GET", "/no-store", no_store, Access.PUBLIC, Answer.JSON),
    Route("POST", "/json", json_only, Access.PUBLIC, Answer.JSON),
]


async def page(request: web.Request, problem: Any) -> web.Response:
    return web.Response(text=f"page: {problem.title}", status=problem.status)


async def frame(request: web.Request, problem: Any) -> web.Response:
    return web.Response(text=f"frame: {problem.title}", status=problem.status)


def application(routes: list[Route] = ROUTES) -> web.Application:
    return build(
        Service.APPHOST,
        routes,
        config=config(),
        render=renderer(page, frame),
        identify={Access.SIGNED_IN: identify},
        max_body=1000,
    )


@pytest.fixture
async def client() -> AsyncIterator[TestClient[web.Request, web.Application]]:
    async with TestClient(TestServer(application())) as client:
        yield client


@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        "strad.test:80",
        "strad.test.evil.test",
        "STRAD.test",
        "127.0.0.1",
        "strad.test#@evil.test",
        "evil.test/strad.test",
        "user@strad.test",
    ],
)
async def test_another_host_is_refused_before_anything_else(client: Any, host: str) -> None:
    answer = await client.get("/guarded", headers={"Host": host})
    assert answer.status == 421
    assert "problem:wrong-host" in (await answer.json())["type"]


async def test_a_route_without_a_declaration_stops_the_start() -> None:
    app = application()
    app.router.add_get("/forgotten", hello)
    runner = web.AppRunner(app)
    with pytest.raises(RuntimeError, match="forgotten"):
        await runner.setup()
    await runner.cleanup()


async def test_a_stranger_is_told_to_sign_in_in_the_form_the_route_speaks(client: Any) -> None:
    answer = await client.get("/mine", headers=HOST)
    assert answer.status == 401
    assert answer.headers["Content-Type"] == "application/problem+json"
    there = client.make_url("/").join(URL("/page?a=b&c=%2F", encoded=True))
    answer = await client.session.get(there, headers=HOST, allow_redirects=False)
    assert answer.status == 303
    assert answer.headers["Location"] == "/auth/sign-in?return_to=%2Fpage%3Fa%3Db%26c%3D%252F"
    answer = await client.get("/frame", headers=HOST, allow_redirects=False)
    assert (answer.status, await answer.text()) == (401, "frame: You are not signed in.")


async def test_an_administrators_page_refuses_others_by_name(client: Any) -> None:
    answer = await client.get("/admin", headers={**HOST, "Test-Person": "bo@strad.test"})
    assert answer.status == 403
    answer = await client.get("/admin", headers={**HOST, "Test-Person": "ada@strad.test"})
    assert await answer.json() == {"who": "ada@strad.test"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "https://evil.test"},
        {"Origin": "https://strad.test.evil.test"},
        {"Origin": "http://strad.test"},
        {"Origin": "https://strad.test:443"},
        {"Origin": PUBLIC, "Sec-Fetch-Site": "cross-site"},
        {"Origin": PUBLIC, "Sec-Fetch-Site": "same-site"},
        {"Origin": PUBLIC, "Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin"},
    ],
)
async def test_a_change_asked_from_elsewhere_is_refused(
    client: Any, headers: dict[str, str]
) -> None:
    signed_in = {**HOST, "Test-Person": "ada@strad.test", **headers}
    answer = await client.post("/mine", headers=signed_in)
    assert answer.status == 403
    assert "problem:cross-origin" in (await answer.json())["type"]


async def test_a_change_asked_from_our_own_page_runs(client: Any) -> None:
    answer = await client.post("/mine", headers={**SAME, "Test-Person": "ada@strad.test"})
    assert answer.status == 200


async def test_a_guard_answers_before_anybody_is_identified(client: Any) -> None:
    answer = await client.get("/guarded", headers=HOST)
    assert (answer.status, await answer.text()) == (418, "guard first")


@pytest.mark.parametrize(
    "kind",
    [
        "application/x-www-form-urlencoded",
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/json, text/plain",
        "application/jsonp",
        "",
    ],
)
async def test_only_json_counts_as_json(client: Any, kind: str) -> None:
    answer = await client.post("/json", data=b"{}", headers={**SAME, "Content-Type": kind})
    assert answer.status == 415


async def test_a_body_over_the_limit_is_413(client: Any) -> None:
    text = json.dumps("x" * 2000)
    headers = {**SAME, "Content-Type": "application/json"}
    answer = await client.post("/json", data=text, headers=headers)
    assert answer.status == 413


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_body_that_is_not_what_its_encoding_says_is_the_callers_mistake(
    client: Any, encoding: str
) -> None:
    headers = {**SAME, "Content-Type": "application/json", "Content-Encoding": encoding}
    answer = await client.post("/json", data=b"no such thing", headers=headers)
    assert answer.status == 400
    assert "problem:bad-request" in (await answer.json())["type"]


async def test_an_unexpected_error_says_nothing_of_the_inside(client: Any) -> None:
    for path, status in (("/broken", 500), ("/no-store", 503)):
        answer = await client.get(path, headers=HOST)
        text = await answer.text()
        assert answer.status == status
        assert "inside" not in text
        assert answer.headers["Strad-Request-Id"] in text


async def test_every_answer_carries_the_security_headers(client: Any) -> None:
    for path, status in (("/public", 200), ("/nowhere", 404), ("/broken", 500), ("/mine", 401)):
        answer = await client.get(path, headers=HOST)
        assert answer.status == status
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert answer.headers["Strict-Transport-Security"].startswith("max-age=")
        assert "Access-Control-Allow-Origin" not in answer.headers
    answer = await client.delete("/public", headers=SAME)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET")
    assert answer.headers["X-Frame-Options"] == "DENY"
