"""Entitlements from a decision point, through the relay: a real one, Cerbos, and one that fails."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.relay.house import House, house
from tests.relay.pdp import Pdp, cerbos, policy
from tests.relay.test_alive import open_stream
from tests.relay.upstreams import sdk_app, served, toy_server

NODE = pytest.mark.node
GROUPS = {"makers": ["ada@strad.test"], "sellers": ["charles@strad.test"]}


@asynccontextmanager
async def relay(pdp: str, *slugs: str, keep: int = 1, grace: int = 0) -> AsyncIterator[House]:
    """A relay in front of one server under these names, which asks this decision point."""
    rules = {"keep": keep, "keep_denied": 1, "grace": grace, "decision_point": {"url": pdp}}
    async with served(sdk_app(toy_server())) as url:
        servers = [{"slug": slug, "url": url, "access": {}} for slug in slugs]
        async with house(servers, entitlements=rules, groups=GROUPS) as h:
            yield h


async def _status(h: House, path: str, name: str = "ada") -> int:
    return (await h.modern(path, "tools/list", name=name))[0]


async def _prefixes(h: House, name: str) -> set[str]:
    status, body = await h.modern("/mcp", "tools/list", name=name)
    assert status == 200, body
    return {tool["name"].partition("__")[0] for tool in body["result"]["tools"]}


@NODE
async def test_cerbos_says_who_may_use_what(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text(
        policy(("ada@strad.test", "a"), ("group:makers", "b"), ("charles@strad.test", "c"))
    )
    async with cerbos(tmp_path) as pdp, relay(pdp, "a", "b", "c", "d") as h:
        assert await _prefixes(h, "ada") == {"a", "b"}
        assert await _prefixes(h, "charles") == {"c"}
        assert await _prefixes(h, "eve") == set()
        for name, slug in (("ada", "c"), ("ada", "d"), ("eve", "a"), ("eve", "nothing")):
            assert await _status(h, f"/mcp/{slug}", name) == 404


@NODE
async def test_a_policy_that_changes_holds_when_the_kept_answer_ends(tmp_path: Path) -> None:
    file = tmp_path / "server.yaml"
    file.write_text(policy(("ada@strad.test", "a")))
    async with cerbos(tmp_path) as pdp, relay(pdp, "a", "b") as h:
        assert await _status(h, "/mcp/a") == 200
        file.write_text(policy(("ada@strad.test", "b")))
        async with asyncio.timeout(10):
            while await _status(h, "/mcp/a") != 404:
                await asyncio.sleep(0.1)
        assert await _status(h, "/mcp/b") == 200


@NODE
async def test_grace_while_cerbos_is_gone(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text(policy(("ada@strad.test", "a")))
    async with contextlib.AsyncExitStack() as running:
        pdp = await running.enter_async_context(cerbos(tmp_path))
        async with relay(pdp, "a", grace=60) as lenient, relay(pdp, "a") as strict:
            for h in (lenient, strict):
                assert await _status(h, "/mcp/a") == 200
            await running.aclose()
            for h in (lenient, strict):
                h.clock.offset += 2
            assert await _status(lenient, "/mcp/a") == 200
            assert await _status(lenient, "/mcp/a", "eve") == 503
            assert await _status(strict, "/mcp/a") == 503


async def test_while_nobody_can_tell_nobody_is_let_in_and_nobody_is_told_no() -> None:
    pdp = Pdp(ada={"a"})
    async with pdp.served() as url, relay(url, "a", grace=30) as h:
        assert await _status(h, "/mcp/a") == 200
        pdp.says = lambda _: web.Response(status=503)
        h.clock.offset += 2
        assert await _status(h, "/mcp/a") == 200
        assert await _status(h, "/mcp/a", "eve") == 503
        h.clock.offset += 30
        status, body = await h.modern("/mcp/a", "tools/list")
        assert status == 503
        assert body["error"]["data"]["kind"] == "entitlements-unavailable"
        pdp.says = None
        h.clock.offset += 2
        assert await _status(h, "/mcp/a") == 200
        assert await _status(h, "/mcp/a", "eve") == 404


async def test_there_is_no_grace_where_the_decision_point_refuses_us() -> None:
    pdp = Pdp(ada={"a"})
    async with pdp.served() as url, relay(url, "a", grace=30) as h:
        assert await _status(h, "/mcp/a") == 200
        pdp.says = lambda _: web.Response(status=401)
        h.clock.offset += 2
        assert await _status(h, "/mcp/a") == 503


async def test_it_is_asked_about_each_server_and_told_who_the_person_is() -> None:
    pdp = Pdp(ada={"a"})
    async with pdp.served() as url, relay(url, "a", "b") as h:
        assert await _status(h, "/mcp/a") == 200
    (asked,) = pdp.bodies
    assert asked["subject"] == {
        "type": "user",
        "id": "ada@strad.test",
        "properties": {
            "email": "ada@strad.test",
            "issuer": "https://idp.test",
            "sub": "ada",
            "groups": ["makers"],
        },
    }
    assert asked["action"] == {"name": "use"}
    resources: list[Any] = [one["resource"] for one in asked["evaluations"]]
    assert resources == [{"type": "mcp_server", "id": slug} for slug in ("a", "b")]


async def test_without_a_word_of_it_a_stream_ends_when_the_kept_answer_has_ended() -> None:
    pdp = Pdp(ada={"a"})
    async with pdp.served() as url, relay(url, "a") as h, open_stream(h, h.url) as stream:
        pdp.may = {}
        async with asyncio.timeout(4):  # it is kept for one second
            await stream.read()
