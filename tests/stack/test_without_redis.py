"""Redis is gone: everybody is told so, nobody is let in, and nobody is signed out for good."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from demo.run.ready import answers
from shared.contracts.wire import SESSION_COOKIE
from tests.live import LiveStack
from tests.stack.callers import hello
from tests.until import until
from tests.visitor import ask

pytestmark = pytest.mark.stack

SERVICES = ["auth", "relay", "apphost"]


@contextmanager
def without_redis(stack: LiveStack, *, hanging: bool = False) -> Iterator[None]:
    """Redis is killed, or stands still as a machine under load does."""
    if hanging:
        stack.child("redis").signal(signal.SIGSTOP)
    else:
        stack.stop("redis", kill=True)
    try:
        yield
    finally:
        if hanging:
            stack.child("redis").signal(signal.SIGCONT)
        else:
            stack.start("redis")


@pytest.mark.parametrize("hanging", [False, True], ids=["gone", "hanging"])
def test_in_the_middle_everybody_waits_and_then_goes_on(fragile: LiveStack, hanging: bool) -> None:
    visitor = fragile.visitor("ada")
    cookie, token = visitor.cookie(SESSION_COOKIE), fragile.token("ada")
    with without_redis(fragile, hanging=hanging):
        for path in ("/", "/apps/catalog", "/auth/tokens"):
            page = visitor.get(path)
            assert page.status == 503, path
            assert "The store of sessions does not answer" in page.text
            assert "Set-Cookie" not in page.headers, "nobody is signed out"
        reply = hello(f"{fragile.url}/mcp/catalog", token)
        assert reply.status == 503
        assert reply.json()["error"]["data"]["kind"] == "store-unavailable"
        assert "WWW-Authenticate" not in reply.headers, "a client must not throw its token away"
    assert visitor.cookie(SESSION_COOKIE) == cookie
    assert visitor.get("/").status == 200
    assert visitor.get("/auth/tokens").status == 200
    assert hello(f"{fragile.url}/mcp/catalog", token).status == 200


def test_without_redis_nobody_signs_in(fragile: LiveStack) -> None:
    with without_redis(fragile):
        page = fragile.visitor().get("/auth/start")
        assert page.status == 503
        assert "Location" not in page.headers
    fragile.visitor("charles")


def test_alive_and_ready_are_two_answers(fragile: LiveStack) -> None:
    with without_redis(fragile):
        for service in SERVICES:
            base = f"http://127.0.0.1:{fragile.internal_ports[service]}"
            assert ask(f"{base}/healthz").status == 200, service
            ready = ask(f"{base}/readyz")
            assert ready.status == 503, service
            assert ready.json()["type"] == "urn:strad:problem:store-unavailable"


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_that_starts_before_redis_waits_for_it(fragile: LiveStack, service: str) -> None:
    with without_redis(fragile):
        fragile.stop(service)
        fragile.start(service, wait=False)
        port = fragile.internal_ports[service]
        assert until(answers(port, "/healthz"), 20), fragile.log(service)
        assert ask(f"http://127.0.0.1:{port}/readyz").status == 503
    assert ask(f"http://127.0.0.1:{port}/readyz").status == 200
    fragile.check()
    assert fragile.visitor("ada").get("/").status == 200
