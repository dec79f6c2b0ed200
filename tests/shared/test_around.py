"""What is told of every request, however it ends: a line of the log, and one more in a counter."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientError, web
from aiohttp.test_utils import TestClient, TestServer

from shared import metrics
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import Service
from shared.web.app import build
from shared.web.problems import renderer
from shared.web.routes import Access, Answer, Route
from tests.shared.test_web import (
    HOST,
    SAME,
    application,
    broken,
    config,
    hello,
    identify,
    json_only,
)


async def left(request: web.Request) -> web.Response:
    await asyncio.sleep(30)
    return await hello(request)


async def elsewhere(_: web.Request) -> web.Response:
    raise web.HTTPSeeOther("/told")


async def begun(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    raise RuntimeError("in the middle")


async def shut(_: web.Request) -> web.Response:
    raise Problem(ProblemKind.FORBIDDEN, "Shut.")


ROUTES = [
    Route("GET", "/told", hello, Access.PUBLIC, Answer.JSON),
    Route("POST", "/told", json_only, Access.PUBLIC, Answer.JSON),
    Route("GET", "/told-page", hello, Access.SIGNED_IN),
    Route("GET", "/told-mine", hello, Access.SIGNED_IN, Answer.JSON),
    Route("GET", "/told-elsewhere", elsewhere, Access.PUBLIC),
    Route("GET", "/told-broken", broken, Access.PUBLIC, Answer.JSON),
    Route("GET", "/told-begun", begun, Access.PUBLIC, Answer.JSON),
    Route("GET", "/told-left", left, Access.PUBLIC, Answer.JSON),
    Route("GET", "/told-{slug}/shut", shut, Access.PUBLIC, Answer.JSON),
]
Client = TestClient[web.Request, web.Application]


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with TestClient(TestServer(application(ROUTES))) as found:
        yield found


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [getattr(r, "fields", {}) for r in caplog.records if r.message == "request"]


def counted(route: str, status: int) -> float:
    labels = {"service": "apphost", "route": route, "status": str(status)}
    return metrics.REGISTRY.get_sample_value("strad_requests_total", labels) or 0


@pytest.mark.parametrize(
    ("verb", "path", "headers", "route", "status"),
    [
        ("GET", "/told", HOST, "/told", 200),
        ("GET", "/told", {"Host": "evil.test"}, "/told", 421),
        ("GET", "/told-nowhere", HOST, "unmatched", 404),
        ("GET", "/told-nowhere", {"Host": "evil.test"}, "unmatched", 421),
        ("DELETE", "/told", HOST, "unmatched", 405),
        ("POST", "/told", SAME | {"Content-Type": "application/json"}, "/told", 413),
        ("POST", "/told", HOST, "/told", 403),
        ("GET", "/told-page", HOST, "/told-page", 303),
        ("GET", "/told-mine", HOST, "/told-mine", 401),
        ("GET", "/told-elsewhere", HOST, "/told-elsewhere", 303),
        ("GET", "/told-broken", HOST, "/told-broken", 500),
        ("GET", "/told-x/shut", HOST, "/told-{slug}/shut", 403),
    ],
)
async def test_an_answer_is_told_once_with_the_status_that_was_sent(
    client: Client,
    caplog: pytest.LogCaptureFixture,
    verb: str,
    path: str,
    headers: dict[str, str],
    route: str,
    status: int,
) -> None:
    caplog.set_level("INFO", "strad")
    before = counted(route, status)
    data = b'"' + b"x" * 2000 + b'"' if verb == "POST" else None
    answer = await client.request(verb, path, headers=headers, data=data, allow_redirects=False)
    assert answer.status == status
    (line,) = lines(caplog)
    assert (line["route"], line["status"], line["method"]) == (route, status, verb)
    assert counted(route, status) == before + 1


@pytest.mark.parametrize(("path", "status"), [("/told-left", 499), ("/told-begun", 500)])
async def test_what_never_comes_to_its_end_is_told_too(
    client: Client, caplog: pytest.LogCaptureFixture, path: str, status: int
) -> None:
    caplog.set_level("INFO", "strad")
    before = counted(path, status)
    with contextlib.suppress(TimeoutError, ClientError):
        async with asyncio.timeout(0.2), client.get(path, headers=HOST) as answer:
            await answer.read()
    async with asyncio.timeout(5):
        while not lines(caplog):
            await asyncio.sleep(0.01)
    assert [line["status"] for line in lines(caplog)] == [status]
    assert counted(path, status) == before + 1


async def test_between_services_only_what_is_refused_has_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "strad")
    app = build(
        Service.RELAY,
        [Route("GET", "/inside", hello, Access.INTERNAL, Answer.JSON)],
        config=config(),
        render=renderer(),
        identify={Access.INTERNAL: identify},
        internal=True,
    )
    async with TestClient(TestServer(app)) as client:
        answers = [
            await client.get("/inside", headers={"Host": "relay"} | more)
            for more in ({"Test-Person": "ada@strad.test"}, {})
        ]
    assert [answer.status for answer in answers] == [200, 401]
    assert [line["status"] for line in lines(caplog)] == [401]
