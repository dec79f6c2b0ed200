"""A server is down or slow: the answer names it, in time, and the others go on."""

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.live import LiveStack
from tests.stack.callers import NEW, OLD, connected, hello, refusal
from tests.stack.conftest import DEADLINE_SECONDS
from tests.until import until

pytestmark = pytest.mark.stack

both_versions = pytest.mark.parametrize("version", [OLD, NEW])
DOWN = re.compile(r"Toy catalogue (cannot be reached|did not answer in time)\.")
LIST = "list_toys"
CALL = {"name": LIST, "arguments": {}, "page": "ui://catalog/view-v1", "surface": "app"}


@contextmanager
def without_catalog(stack: LiveStack, *, hanging: bool) -> Iterator[None]:
    """Nothing listens at the server's port, or what listens does not answer."""
    if hanging:
        stack.child("catalog").signal(signal.SIGSTOP)
    else:
        stack.stop("catalog")
    try:
        yield
    finally:
        if hanging:
            stack.child("catalog").signal(signal.SIGCONT)
        else:
            stack.start("catalog")


down_or_slow = pytest.mark.parametrize("hanging", [False, True], ids=["down", "slow"])


@down_or_slow
@both_versions
async def test_a_client_is_told_in_time_and_never_gets_an_empty_success(
    fragile: LiveStack, version: str, hanging: bool
) -> None:
    token = fragile.token("ada")
    async with connected(f"{fragile.url}/mcp/catalog", token, version) as client:
        assert not (await client.call_tool(LIST)).is_error
        with without_catalog(fragile, hanging=hanging):
            started = time.monotonic()
            assert "Toy catalogue" in await refusal(client, LIST)
            assert time.monotonic() - started < DEADLINE_SECONDS + 3
        assert not (await client.call_tool(LIST)).is_error


@down_or_slow
@both_versions
async def test_the_merged_view_shows_the_servers_that_answer(
    fragile: LiveStack, version: str, hanging: bool
) -> None:
    token = fragile.token("ada")
    with without_catalog(fragile, hanging=hanging):
        async with connected(f"{fragile.url}/mcp", token, version) as client:
            names = {tool.name.partition("__")[0] for tool in (await client.list_tools()).tools}
    assert "hostile" in names


@down_or_slow
def test_the_console_says_which_server_does_not_answer_and_shows_the_others(
    fragile: LiveStack, hanging: bool
) -> None:
    visitor = fragile.visitor("ada")
    with without_catalog(fragile, hanging=hanging):
        # a server's state is looked up at most every five seconds
        assert until(lambda: DOWN.search(visitor.get("/").text) is not None, 10)
        home = visitor.get("/")
        assert home.status == 200
        assert len(DOWN.findall(home.text)) == 1
        assert "Escape room" in home.text
        call = visitor.post_json("/apps/catalog/tools/call", CALL)
        assert call.status in {502, 504}
        assert call.json()["type"].startswith("urn:strad:problem:upstream-")
    # after many failures the next try waits a few seconds
    assert until(lambda: visitor.post_json("/apps/catalog/tools/call", CALL).status == 200, 10)


def test_a_service_that_is_gone_is_named_as_such_and_comes_back(fragile: LiveStack) -> None:
    visitor = fragile.visitor("ada")
    fragile.stop("relay", kill=True)
    try:
        page = visitor.get("/")
        assert page.status == 503
        assert "does not answer" in page.text
    finally:
        fragile.start("relay")
    assert visitor.get("/").status == 200


def test_without_auth_those_inside_go_on_working(fragile: LiveStack) -> None:
    visitor, token = fragile.visitor("ada"), fragile.token("ada")
    fragile.stop("auth", kill=True)
    try:
        assert visitor.get("/").status == 200
        call = visitor.post_json("/apps/catalog/tools/call", CALL)
        assert call.status == 200
        assert hello(f"{fragile.url}/mcp/catalog", token).status == 200
    finally:
        fragile.start("auth")
