"""Whose cookie it is: only the one that a browser lets nobody but us set."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from shared.contracts.wire import SESSION_COOKIE
from shared.web import cookies

OURS = "A-z_09"


@pytest.fixture
async def client() -> AsyncIterator[TestClient[web.Request, web.Application]]:
    """Answers with the session cookie as it was read."""

    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=cookies.read(request, SESSION_COOKIE))

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestClient(TestServer(app)) as found:
        yield found


async def read(client: TestClient[web.Request, web.Application], *headers: str) -> str:
    """What is read of these `Cookie` headers."""
    async with client.get("/", headers=[("Cookie", header) for header in headers]) as answer:
        assert answer.status == 200
        return await answer.text()


@pytest.mark.parametrize(
    "header",
    [
        f"{SESSION_COOKIE}={OURS}",
        f"other=1; {SESSION_COOKIE}={OURS}; more=2",
        f"other=1;{SESSION_COOKIE}={OURS};",
        f'quoted="a b"; {SESSION_COOKIE}={OURS}',
        f"__host-strad=x; {SESSION_COOKIE}-tx=x; {SESSION_COOKIE}={OURS}",
    ],
)
async def test_our_cookie_is_read_beside_any_others(
    client: TestClient[web.Request, web.Application], header: str
) -> None:
    assert await read(client, header) == OURS


@pytest.mark.parametrize(
    "before", ["\u2000", "\u3000", "\x85", "\xa0", "\u2028", "\u200b", "\ufeff", "_", "=", "$"]
)
async def test_a_name_that_a_sibling_host_may_set_is_not_ours(
    client: TestClient[web.Request, web.Application], before: str
) -> None:
    """A browser guards the prefix `__Host-` at the very beginning of a name, and nowhere else."""
    assert await read(client, f"{before}{SESSION_COOKIE}=planted") == ""
    assert await read(client, f"{SESSION_COOKIE}={OURS}; {before}{SESSION_COOKIE}=planted") == OURS


@pytest.mark.parametrize("name", ["__host-strad", f"{SESSION_COOKIE} ", f"{SESSION_COOKIE}\u2000"])
async def test_a_name_that_is_nearly_ours_is_not_ours(
    client: TestClient[web.Request, web.Application], name: str
) -> None:
    assert await read(client, f"{name}=planted") == ""


async def test_of_two_cookies_of_our_name_none_is_believed(
    client: TestClient[web.Request, web.Application],
) -> None:
    assert await read(client, f"{SESSION_COOKIE}={OURS}; {SESSION_COOKIE}=planted") == ""
    assert await read(client, f"{SESSION_COOKIE}={OURS}", f"{SESSION_COOKIE}=planted") == ""


@pytest.mark.parametrize("value", ["", '"quoted"', "a b", "a,b", "é", "x" * 65, "a%41", "\u2000x"])
async def test_a_value_that_we_never_write_is_no_cookie(
    client: TestClient[web.Request, web.Application], value: str
) -> None:
    assert await read(client, f"{SESSION_COOKIE}={value}") == ""
