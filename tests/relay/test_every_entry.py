"""Every way in, tried by who may not: it is as if nothing were there, and nobody is asked.

`quay` is a server that bob may not use, `zulu` one that does not exist, `open` one for everybody.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from shared.contracts.wire import INTERNAL_REFRESH_PATH
from tests.relay.house import VERSION, House, house
from tests.relay.pdp import Pdp
from tests.relay.test_audit import trail
from tests.relay.upstreams import Asgi, modern_fake, sdk_app, served, toy_server

TOKEN = "a-long-secret"
PAGE = "ui://{p}toys/view.html"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
}
LISTEN = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [PAGE]}}
TOOL = {"name": "{n}echo", "arguments": {"text": "x"}}
PROMPT = {"name": "{n}describe", "arguments": {"toy": "x"}}
REF = {
    "ref": {"type": "ref/prompt", "name": "{n}describe"},
    "argument": {"name": "toy", "value": "x"},
}

# method -> params; {n} and {p} become what leads to the server in a merged view
MODERN: dict[str, Any] = {
    "server/discover": {},
    "tools/list": {},
    "tools/call": TOOL,
    "resources/list": {},
    "resources/templates/list": {},
    "resources/read": {"uri": PAGE},
    "prompts/list": {},
    "prompts/get": PROMPT,
    "completion/complete": REF,
    "subscriptions/listen": LISTEN,
    "no/such/method": {},
}
LEGACY: dict[str, Any] = {
    name: MODERN[name] for name in MODERN if name[:6] not in {"server", "subscr"}
}
LEGACY |= {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
    "ping": {},
    "logging/setLevel": {"level": "info"},
    "resources/subscribe": {"uri": PAGE},
    "resources/unsubscribe": {"uri": PAGE},
    "notifications/initialized": None,
    "notifications/cancelled": {"requestId": 1},
}
ONE = ("/mcp/{s}", "/mcp?servers={s}", "/mcp?servers=open,{s}", "/mcp?servers={s},open")
# in the merged view those that name something; the others are lists of what there is
NAMING = ("tools/call", "resources/read", "prompts/get", "completion/complete")


class Asked:
    """A server, and how often it was asked anything."""

    def __init__(self, app: Asgi) -> None:
        self._app = app
        self.times = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.times += scope["type"] == "http"
        await self._app(scope, receive, send)


@asynccontextmanager
async def town() -> AsyncIterator[tuple[House, Asked, Pdp]]:
    """ada may use both servers, bob only `open`."""
    pdp, quay = Pdp(ada={"quay", "open"}, bob={"open"}), Asked(sdk_app(toy_server()))
    tool = {"name": "other", "inputSchema": {"type": "object"}}
    other = modern_fake([tool], lambda *_: {"result": {"resultType": "complete", "content": []}})
    async with served(quay) as url, other.served() as open_url, pdp.served() as point:
        servers = [
            {"slug": "quay", "url": url, "access": {}},
            {"slug": "open", "url": open_url, "access": {}},
        ]
        rules = {"keep": 60, "keep_denied": 60, "decision_point": {"url": point}}
        async with house(servers, entitlements=rules, refresh_token=TOKEN) as h:
            yield h, quay, pdp


def filled(params: Any, slug: str, merged: bool) -> Any:
    """Params that lead to one server."""
    text = json.dumps(params)
    text = text.replace("{n}", f"{slug}__" if merged else "")
    return json.loads(text.replace("{p}", f"{slug}/" if merged else ""))


def alike(answer: Any, slug: str) -> Any:
    """An answer without what differs from request to request."""
    text = json.dumps(answer).replace(slug, "SLUG")
    parts = text.split('"request_id": "')
    return [parts[0], *(part.partition('"')[2] for part in parts[1:])]


async def _end(h: House, pdp: Pdp) -> None:
    pdp.may["ada"] = {"open"}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    address = h.internal_url + INTERNAL_REFRESH_PATH
    async with h.http.post(address, json={}, headers=headers) as response:
        assert response.status == 204


async def _session(h: House, path: str) -> str:
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": LEGACY["initialize"]}
    headers = await h.bearer() | {"Accept": "application/json, text/event-stream"}
    async with h.http.post(h.url + path, json=body, headers=headers) as response:
        assert response.status == 200, await response.text()
        return response.headers["Mcp-Session-Id"]


async def _legacy(h: House, path: str, method: str, params: Any, session: str | None) -> Any:
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    if method.startswith("notifications/"):
        del body["id"]
    headers = {"MCP-Protocol-Version": "2025-11-25"}
    name = "ada" if session else "bob"
    return await h.send(
        path, body, name=name, headers=headers | ({"Mcp-Session-Id": session} if session else {})
    )


async def test_in_2026_07_28_a_server_that_is_not_theirs_is_one_that_is_not_there() -> None:
    async with town() as (h, quay, _):
        for path in ONE:
            for method, params in MODERN.items():
                answers = []
                for slug in ("quay", "zulu"):
                    address = path.format(s=slug)
                    sent = filled(params, slug, "open" in path)
                    answers.append(alike(await h.modern(address, method, sent, name="bob"), slug))
                assert answers[0] == answers[1], (path, method)
                assert answers[0][0].startswith("[404"), (path, method, answers[0])
        assert quay.times == 0


async def test_in_2025_11_25_neither_is_there_a_session_to_begin_nor_one_to_go_on_with() -> None:
    async with town() as (h, quay, pdp):
        sessions = {path: await _session(h, path.format(s="quay")) for path in ONE}
        await _end(h, pdp)
        before = quay.times
        for path in ONE:
            for method, params in LEGACY.items():
                for session in (None, sessions[path]):
                    answers = []
                    for slug in ("quay", "zulu"):
                        sent = filled(params, slug, "open" in path)
                        found = await _legacy(h, path.format(s=slug), method, sent, session)
                        answers.append(alike(found, slug))
                    assert answers[0] == answers[1], (path, method)
                    assert answers[0][0].startswith("[404"), (path, method, answers[0])
            for verb in ("GET", "DELETE"):
                headers = {"Mcp-Session-Id": sessions[path]}
                found = [
                    alike(await h.send(path.format(s=slug), {}, headers=headers, verb=verb), slug)
                    for slug in ("quay", "zulu")
                ]
                assert found[0] == found[1], (path, verb)
                assert found[0][0].startswith("[404"), (path, verb, found[0])
        assert quay.times == before


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_the_merged_view_holds_nothing_of_it(era: str) -> None:
    async with town() as (h, quay, pdp):
        session = await _session(h, "/mcp") if era == "2025-11-25" else None

        async def ask(method: str, params: Any) -> Any:
            if session is not None:
                return await _legacy(h, "/mcp", method, params, session)
            return await h.modern("/mcp", method, params)

        assert "quay__echo" in json.dumps(await ask("tools/list", {}))
        assert (await ask("tools/call", filled(TOOL, "quay", True)))[0] == 200
        await _end(h, pdp)
        before = quay.times
        for method in NAMING:
            found = [
                alike(await ask(method, filled(MODERN[method], slug, True)), slug)
                for slug in ("quay", "zulu")
            ]
            assert found[0] == found[1], method
            assert "error" in found[0][0], (method, found[0])
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            assert "quay" not in json.dumps(await ask(method, {})), method
        assert alike(await ask("tools/call", {"name": "echo"}), "echo") == alike(
            await ask("tools/call", {"name": "nothing"}), "nothing"
        )
        assert quay.times == before


QUESTIONS = [
    ("tools/list", {}, "console"),
    ("resources/list", {}, "console"),
    ("resources/read", {"uri": "ui://toys/view.html"}, "console"),
    *(("tools/call", {"name": "show"}, surface) for surface in ("console", "app", "open", "run")),
]


async def test_the_console_finds_as_little() -> None:
    async with town() as (h, quay, _):
        status, body = await h.ask(None, name="bob")
        assert (status, [one["slug"] for one in body["servers"]]) == (200, ["open"])
        for method, params, surface in QUESTIONS:
            asked = {"method": method, "params": params, "surface": surface}
            asked |= {"page": "ui://toys/view.html"}
            found = [alike(await h.ask(s, asked, name="bob"), s) for s in ("quay", "zulu")]
            assert found[0] == found[1], (method, surface)
            assert found[0][0].startswith("[404"), (method, surface, found[0])
        assert quay.times == 0


async def test_the_trail_alone_tells_them_apart() -> None:
    async with town() as (h, _, _pdp):
        for slug in ("quay", "zulu"):
            await h.modern(f"/mcp/{slug}", "tools/list", name="bob")
            await h.ask(
                slug, {"method": "tools/list", "params": {}, "surface": "console"}, name="bob"
            )
        found = [(one["server"], one["reason"]) for one in await trail(h, 4)]
        assert sorted(found) == [("quay", "not-entitled")] * 2 + [("zulu", "unknown-server")] * 2


@asynccontextmanager
async def get_stream(h: House, path: str) -> AsyncIterator[aiohttp.StreamReader]:
    """A session's own stream."""
    headers = await h.bearer() | {"Accept": "text/event-stream"}
    headers["Mcp-Session-Id"] = await _session(h, path)
    async with h.http.get(h.url + path, headers=headers) as response:
        assert response.content_type == "text/event-stream", await response.text()
        yield response.content


@asynccontextmanager
async def listening(h: House, path: str) -> AsyncIterator[aiohttp.StreamReader]:
    """`subscriptions/listen` of 2026-07-28, acknowledged."""
    params = {"notifications": {"toolsListChanged": True}, "_meta": META}
    method = "subscriptions/listen"
    headers = await h.bearer() | {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
    }
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    async with h.http.post(h.url + path, json=body, headers=headers) as response:
        assert response.content_type == "text/event-stream", await response.text()
        await response.content.readuntil(b"\n")
        yield response.content


@pytest.mark.parametrize("opened", [get_stream, listening])
@pytest.mark.parametrize(
    "path", ["/mcp/quay", "/mcp?servers=quay", "/mcp?servers=quay,open", "/mcp"]
)
async def test_every_open_stream_ends_within_a_second(opened: Any, path: str) -> None:
    async with town() as (h, _, pdp), opened(h, path) as stream:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await stream.read()
        await _end(h, pdp)
        async with asyncio.timeout(1):
            await stream.read()


@pytest.mark.parametrize("path", ["/mcp/quay", "/mcp"])
@pytest.mark.parametrize("ends", ["entitlement", "token"])
async def test_a_message_that_is_still_on_its_way_meets_what_holds_when_it_arrives(
    path: str, ends: str
) -> None:
    async with town() as (h, quay, pdp):
        name = "echo" if path == "/mcp/quay" else "quay__echo"
        params = {"name": name, "arguments": {"text": "x"}, "_meta": META}
        body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        headers = await h.bearer() | {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": name,
        }
        text = json.dumps(body).encode()
        before = quay.times

        async def slowly() -> AsyncIterator[bytes]:
            yield text[:20]
            if ends == "token":
                subject = h.person("ada").subject
                (record,) = (await h.token_writer.of(subject)).values()
                await h.token_writer.revoke(subject, record.id)
            else:
                await _end(h, pdp)
            await asyncio.sleep(1.1)
            yield text[20:]

        async with h.http.post(h.url + path, data=slowly(), headers=headers) as response:
            found = response.status, await response.text()
        if ends == "token":
            assert found[0] == 401
        elif path == "/mcp":
            assert "Unknown tool: quay__echo" in found[1]
        else:
            assert found[0] == 404
        assert quay.times == before
