"""Streams end within a second of a press on a page: real processes, a real Redis, the edge."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
import pytest_asyncio
from mcp.server.mcpserver import Context, MCPServer

from shared.contracts.wire import SESSION_COOKIE
from shared.web.lines import LINES_TYPE
from tests.live import LiveStack, make_token, operator, revoke_tokens
from tests.relay.upstreams import PAGE_URI, sdk_app, served, toy_server
from tests.stack.callers import hello
from tests.stack.connecting import FORM, connect, registered
from tests.stack.town import Town, listening
from tests.visitor import Reply, Visitor, ask

pytestmark = [pytest.mark.stack, pytest.mark.asyncio(loop_scope="module")]

SECONDS = 1.0
END_ALL = ("sessions", "end", "charles@strad.test")
CALL = {"name": "wait", "arguments": {}, "page": PAGE_URI, "surface": "app"}


def waiting_server() -> MCPServer:
    """With a tool that begins, and is at work for longer than any test."""
    server = toy_server()

    @server.tool()
    async def wait(ctx: Context[Any]) -> str:
        await ctx.report_progress(1, 2)
        await asyncio.sleep(60)
        return "done"

    return server


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LiveStack]:
    """A server for both people; Ada administers."""
    path = tmp_path_factory.mktemp("town") / "strad.yaml"
    async with served(sdk_app(waiting_server())) as url:
        town = Town(path, url)
        town.makers("ada@strad.test", "charles@strad.test")
        async with town.running() as stack:
            yield stack


@pytest_asyncio.fixture(loop_scope="module")
async def charles(live: LiveStack) -> Visitor:
    return await asyncio.to_thread(live.visitor, "charles")


@asynccontextmanager
async def calling(visitor: Visitor) -> AsyncIterator[aiohttp.StreamReader]:
    """A page's call that has begun, in this visitor's session."""
    headers = {"Cookie": f"{SESSION_COOKIE}={visitor.cookie(SESSION_COOKIE)}"}
    headers |= {"Origin": visitor.home, "Sec-Fetch-Site": "same-origin", "Accept": LINES_TYPE}
    url = f"{visitor.home}/apps/toys/tools/call"
    async with aiohttp.ClientSession() as http, http.post(url, json=CALL, headers=headers) as got:
        assert got.status == 200, await got.text()
        assert "progress" in json.loads(await got.content.readline())
        yield got.content


async def _ended_in_time(
    happens: Callable[[], object], *streams: aiohttp.StreamReader
) -> list[bytes]:
    """What streams that stay open have said when they end, which is at once."""
    rest = [asyncio.create_task(stream.read()) for stream in streams]
    done, _ = await asyncio.wait(rest, timeout=0.2)
    assert not done, "they end by themselves"
    await asyncio.to_thread(happens)
    started = time.monotonic()
    async with asyncio.timeout(10):
        said = await asyncio.gather(*rest)
    assert time.monotonic() - started < SECONDS
    return list(said)


def press(visitor: Visitor, page: str, action: str) -> None:
    """The first button of a page whose form goes there."""
    shown = visitor.get(page)
    found = re.search(rf'action="({action})"', shown.text)
    assert found, shown.text
    assert visitor.post(found[1], {}).status in {200, 303}


def _end_others(there: Visitor) -> None:
    """By the sessions page: all sessions of the person but this one."""
    rows = there.get("/auth/sessions").text.split("<tr>")
    actions = [re.search(r'action="(/auth/sessions/[^"]+/end)"', row) for row in rows]
    found = zip(rows, actions, strict=True)
    others = [action[1] for row, action in found if action and "This browser" not in row]
    assert others
    for action in others:
        assert there.post(action, {}).status == 303


def _end_all_of_charles(stack: LiveStack) -> None:
    ada = stack.visitor("ada")
    page = ada.post("/auth/people/end", {"email": "charles@strad.test"})
    assert "Ended for charles@strad.test" in page.text


WAYS: dict[str, Callable[[LiveStack, Visitor, Visitor], object]] = {
    "ended on the sessions page": lambda _, __, there: _end_others(there),
    "signed out": lambda _, here, __: here.post("/auth/sign-out", {}),
    "signed out everywhere": lambda _, __, there: there.post("/auth/sessions/end-all", {}),
    "ended by an administrator": lambda stack, _, __: _end_all_of_charles(stack),
    "ended by the operator": lambda stack, _, __: operator(stack, *END_ALL),
}


@pytest.mark.parametrize("way", list(WAYS))
async def test_a_call_of_a_page_ends_with_its_session(
    live: LiveStack, charles: Visitor, way: str
) -> None:
    other = await asyncio.to_thread(live.visitor, "charles")
    async with calling(charles) as stream:
        (said,) = await _ended_in_time(lambda: WAYS[way](live, charles, other), stream)
    assert json.loads(said)["problem"]["status"] == 401
    assert (await asyncio.to_thread(charles.get, "/auth/tokens")).status == 303


async def test_another_session_of_the_person_goes_on(live: LiveStack, charles: Visitor) -> None:
    other = await asyncio.to_thread(live.visitor, "charles")
    async with calling(charles) as stream, calling(other) as stays:
        await _ended_in_time(lambda: charles.post("/auth/sign-out", {}), stream)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(SECONDS):
                await stays.read(1)


async def _streams_of(stack: LiveStack, token: str, opened: AsyncExitStack) -> list[Any]:
    paths = ("/mcp/toys", "/mcp")
    return [await opened.enter_async_context(listening(stack.url + one, token)) for one in paths]


@dataclass
class Connected:
    """A client, and its tokens."""

    client: str
    access: str
    refresh: str

    @classmethod
    def to(cls, person: Visitor) -> "Connected":
        client = registered(person.home)
        got = connect(person, client)
        return cls(client, got["access token"], got["refresh token"])


def _give_back(client: Connected, url: str) -> None:
    form = {"token": client.refresh, "client_id": client.client}
    assert ask(f"{url}/oauth/revoke", "POST", body=urlencode(form), headers=FORM).status == 200


CLIENT_WAYS: dict[str, Callable[[LiveStack, Visitor, Connected], object]] = {
    "disconnected": lambda _, person, __: press(person, "/auth/clients", "/auth/clients/.*/end"),
    "given back": lambda stack, _, client: _give_back(client, stack.url),
    "ended by an administrator": lambda stack, _, __: _end_all_of_charles(stack),
    "ended by the operator": lambda stack, _, __: operator(stack, *END_ALL),
}


@pytest.mark.parametrize("way", list(CLIENT_WAYS))
async def test_the_streams_of_a_client_end_with_what_it_was_allowed(
    live: LiveStack, charles: Visitor, way: str
) -> None:
    client = await asyncio.to_thread(Connected.to, charles)
    async with AsyncExitStack() as opened:
        streams = await _streams_of(live, client.access, opened)
        await _ended_in_time(lambda: CLIENT_WAYS[way](live, charles, client), *streams)
    assert (await asyncio.to_thread(hello, f"{live.url}/mcp/toys", client.access)).status == 401


def _refresh(stack: LiveStack, client: Connected) -> Reply:
    form = {"grant_type": "refresh_token", "refresh_token": client.refresh}
    form |= {"client_id": client.client, "resource": f"{stack.url}/mcp"}
    return ask(f"{stack.url}/oauth/token", "POST", body=urlencode(form), headers=FORM)


async def test_a_refresh_token_that_comes_again_ends_the_streams_of_its_family(
    live: LiveStack, charles: Visitor
) -> None:
    client = await asyncio.to_thread(Connected.to, charles)
    given = (await asyncio.to_thread(_refresh, live, client)).json()
    # nothing of the answer was used yet: it may have been lost
    assert (await asyncio.to_thread(_refresh, live, client)).json() == given
    async with AsyncExitStack() as opened:
        streams = await _streams_of(live, given["access_token"], opened)
        await _ended_in_time(lambda: _refresh(live, client), *streams)
    status = (await asyncio.to_thread(hello, f"{live.url}/mcp/toys", given["access_token"])).status
    assert status == 401


TOKEN_WAYS: dict[str, Callable[[LiveStack, Visitor], object]] = {
    "revoked on the page": lambda _, person: revoke_tokens(person),
    "ended by an administrator": lambda stack, _: _end_all_of_charles(stack),
    "ended by the operator": lambda stack, _: operator(stack, *END_ALL),
}


@pytest.mark.parametrize("way", list(TOKEN_WAYS))
async def test_the_streams_of_an_access_token_end_with_it(
    live: LiveStack, charles: Visitor, way: str
) -> None:
    token = await asyncio.to_thread(make_token, charles)
    async with AsyncExitStack() as opened:
        streams = await _streams_of(live, token, opened)
        await _ended_in_time(lambda: TOKEN_WAYS[way](live, charles), *streams)
    assert (await asyncio.to_thread(hello, f"{live.url}/mcp/toys", token)).status == 401
