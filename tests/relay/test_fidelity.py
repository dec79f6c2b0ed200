"""Whatever JSON can say comes through: to the byte in a view of one, else member by member."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.relay.messages import rpc
from shared.contracts.wire import APP_MIME_TYPE
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller
from tests.relay.upstreams import Fake, LegacyFake, modern_fake

NUMBERS = st.one_of(
    st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,4})?", fullmatch=True),
    st.sampled_from(["1e999", "-0", "-0.0", "9007199254740993", "0.1", "1E2", "2.50"]),
)
STRINGS = st.one_of(
    st.text(max_size=8), st.sampled_from(["uri", "name", "ui://x", "\ud800", "_meta"])
)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=any("\ud800" <= c <= "\udfff" for c in text))


def _object(pairs: dict[str, str]) -> str:
    return "{ " + ", ".join(f"{_string(k)} :{v}" for k, v in pairs.items()) + "}"


ATOMS = st.one_of(st.sampled_from(["null", "true", "false"]), NUMBERS, STRINGS.map(_string))
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)} ]"),
        st.dictionaries(STRINGS, inner, max_size=3).map(_object),
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(STRINGS, VALUES, max_size=4).map(_object)
DEEP = "[" * 200 + "1e999" + "]" * 200


@dataclass
class Running:
    """A relay in front of one server of each version; `say` is what they answer a call with."""

    runner: asyncio.Runner
    h: House
    servers: dict[str, Fake]
    old: dict[str, OldCaller]
    said: dict[str, str]
    number: int = 0


def _answering(said: dict[str, str], legacy: bool) -> Fake:
    def call(_: Any, message: dict[str, Any]) -> web.Response:
        request_id = json.dumps(message["id"])
        text = f'{{"jsonrpc":"2.0", "id":{request_id}, "result":{said["result"]}}}'
        return web.Response(text=text, content_type="application/json")

    class Legacy(LegacyFake):
        def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
            called = message.get("method") == "tools/call"
            return call(request, message) if called else super()._reply(request, message)

    return Legacy(keeps=False) if legacy else modern_fake([], call)


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    async def start(stack: AsyncExitStack, runner: asyncio.Runner) -> Running:
        said: dict[str, str] = {}
        servers = {"m": _answering(said, False), "l": _answering(said, True)}
        urls = {slug: await stack.enter_async_context(s.served()) for slug, s in servers.items()}
        entries = [{"slug": slug, "url": url} for slug, url in urls.items()]
        h = await stack.enter_async_context(house(entries))
        apps = {"io.modelcontextprotocol/ui": {"mimeTypes": [APP_MIME_TYPE]}}
        paths = ("/mcp", "/mcp/l", "/mcp/m")
        old = {path: await OldCaller.begin(h, path, extensions=apps) for path in paths}
        return Running(runner, h, servers, old, said)

    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        yield runner.run(start(stack, runner))
        runner.run(stack.aclose())


async def _exchange(r: Running, slug: str, path: str, era: str, given: str) -> tuple[bytes, ...]:
    """The bytes that a caller of this era sends, that the server gets, and that come back."""
    r.number += 1
    name, meta = "go" if path != "/mcp" else f"{slug}__go", f'"v/x":{given}'
    headers = {"Accept": "*/*", "Content-Type": "application/json"} | await r.h.bearer()
    if era == "new":
        meta += ',"io.modelcontextprotocol/protocolVersion":"2026-07-28"'
        apps = f'"io.modelcontextprotocol/ui":{{"mimeTypes":["{APP_MIME_TYPE}"]}}'
        meta += f',"io.modelcontextprotocol/clientCapabilities":{{"extensions":{{{apps}}}}}'
        headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}
        headers |= {"Mcp-Name": name}
    else:
        headers |= {"Mcp-Session-Id": r.old[path].session}
    params = f'{{"name":"{name}", "arguments" :{given}, "vendor":{given},"_meta":{{{meta}}}}}'
    sent = f'{{"jsonrpc":"2.0","id":{r.number}, "method":"tools/call","params":{params}}}'.encode()
    async with r.h.http.post(r.h.url + path, data=sent, headers=headers) as response:
        back = await response.read()
        assert response.status == 200, back
    return sent, await r.servers[slug].seen[-1].read(), back


@pytest.mark.parametrize("slug", ["m", "l"])
@settings(max_examples=40, deadline=None)
@given(given=OBJECTS, result=OBJECTS)
@example(given=f'{{"a":{DEEP}}}', result=f'{{"_meta":{{"v":{DEEP}}}}}')
def test_a_view_of_one_changes_no_byte(
    running: Running, slug: str, given: str, result: str
) -> None:
    running.said["result"] = result
    one = _exchange(running, slug, f"/mcp/{slug}", "new" if slug == "m" else "old", given)
    sent, got, back = running.runner.run(one)
    assert got == sent
    whole = f'{{"jsonrpc":"2.0", "id":{running.number}, "result":{result}}}'
    assert back == whole.encode()


@pytest.mark.parametrize(
    ("path", "slug", "era"),
    [
        *(("/mcp", slug, era) for slug in "ml" for era in ("new", "old")),
        ("/mcp/l", "l", "new"),
        ("/mcp/m", "m", "old"),
    ],
)
@settings(max_examples=30, deadline=None)
@given(given=OBJECTS, value=OBJECTS)
@example(given=f'{{"a":{DEEP}}}', value=f'{{"a":{DEEP}}}')
def test_a_merged_view_or_another_version_changes_what_is_its_own_and_nothing_else(
    running: Running, path: str, slug: str, era: str, given: str, value: str
) -> None:
    running.said["result"] = (
        f'{{"structuredContent":{value},"content":[{value}],"isError":true,'
        f'"vendor":{value},"_meta":{{"v/x":{value}}}}}'
    )
    sent, got, back = running.runner.run(_exchange(running, slug, path, era, given))
    before, after = rpc.loads(sent)["params"], rpc.loads(got)["params"]
    assert after["name"] == "go"
    assert {key: after[key] for key in ("arguments", "vendor")} == {
        key: before[key] for key in ("arguments", "vendor")
    }
    assert after["_meta"]["v/x"] == before["_meta"]["v/x"]
    theirs, ours = rpc.loads(running.said["result"].encode()), rpc.loads(back)["result"]
    if era == "new":
        assert ours.pop("resultType") == "complete"
        ours["_meta"].pop("io.modelcontextprotocol/serverInfo")
    assert ours == theirs
