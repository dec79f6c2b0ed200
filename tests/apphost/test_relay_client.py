"""What the relay's silence, slowness and nonsense become: a named problem, never a success."""

import asyncio
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest
from aiohttp import web

from services.apphost.relay_client import RelayClient
from shared.contracts.identity import Principal, SessionKind
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import new_signing_key
from tests.apphost.console import ADA, Console, listen

WHO = Principal(person=ADA, digest="d" * 43, session_kind=SessionKind.OIDC)


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def kind_of(client: RelayClient, seconds: float = 5.0) -> ProblemKind:
    with pytest.raises(Problem) as caught:
        await client.rpc(WHO, "toys", "tools/list", {}, seconds=seconds)
    return caught.value.kind


async def test_a_relay_that_does_not_listen_is_unavailable(http: aiohttp.ClientSession) -> None:
    sock = listen()
    url = f"http://127.0.0.1:{sock.getsockname()[1]}"
    sock.close()
    client = RelayClient(http, url, new_signing_key())
    assert await kind_of(client) is ProblemKind.RELAY_UNAVAILABLE


async def test_an_answer_after_the_deadline_is_a_timeout(http: aiohttp.ClientSession) -> None:
    async def sleep(_: web.Request) -> web.Response:
        await asyncio.sleep(5)
        return web.json_response({})

    app = web.Application()
    app.router.add_post("/{rest:.*}", sleep)
    runner, sock = web.AppRunner(app, shutdown_timeout=0.1), listen()
    await runner.setup()
    await web.SockSite(runner, sock).start()
    client = RelayClient(http, f"http://127.0.0.1:{sock.getsockname()[1]}", new_signing_key())
    assert await kind_of(client, seconds=0.2) is ProblemKind.UPSTREAM_TIMEOUT
    await runner.cleanup()


async def test_a_relay_that_does_not_know_our_key_signs_nobody_in(
    console: Console, http: aiohttp.ClientSession
) -> None:
    # any other key than the one that the relay was given
    port = console.relay_port
    client = RelayClient(http, f"http://127.0.0.1:{port}", new_signing_key())
    assert await kind_of(client) is ProblemKind.SIGN_IN_NEEDED
    assert console.relay.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        lambda: web.Response(text="gone", status=502),
        lambda: web.Response(status=302, headers={"Location": "http://127.0.0.1:1/"}),
        lambda: web.json_response({"type": "urn:strad:problem:made-up", "title": "x"}, status=418),
        lambda: web.json_response({"type": "urn:strad:problem:not-found"}, status=404),
        lambda: web.json_response({"result": None}),
        lambda: web.json_response({"servers": [{"slug": "toys"}]}),
        lambda: web.json_response({}),
    ],
)
async def test_an_answer_that_is_none_is_unavailable(
    console: Console, ada: str, answer: Callable[[], web.Response]
) -> None:
    console.relay.raw = answer
    for path in ("/", "/apps/toys"):
        page = await console.get(path, ada)
        assert page.status == 503
        assert "The service that reaches the servers does not answer." in page.text
