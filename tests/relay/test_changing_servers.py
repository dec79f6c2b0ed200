"""Servers that change under a running relay: another version, another session, another mind."""

from typing import Any

import pytest
from aiohttp import web

from tests.relay.house import House, house
from tests.relay.upstreams import Fake, LegacyFake, modern_fake

DONE = {"resultType": "complete", "content": []}
TOOLS = [{"name": "go", "inputSchema": {}}]
CALLS = (("/mcp/a", "go"), ("/mcp", "a__go"))


class Changing(Fake):
    """A server that becomes another one."""

    def __init__(self, first: Fake) -> None:
        self.now = first
        super().__init__(lambda request, message: self.now._answer(request, message))


def _message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def _begin(version: str = "2025-11-25") -> dict[str, Any]:
    info = {"name": "t", "version": "1"}
    return _message("initialize", protocolVersion=version, capabilities={}, clientInfo=info)


async def _open(h: House, path: str) -> dict[str, str]:
    headers = await h.bearer() | {"Accept": "application/json, text/event-stream"}
    async with h.http.post(h.url + path, json=_begin(), headers=headers) as response:
        assert response.status == 200, await response.text()
        return {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}


def _later(h: House) -> None:
    """When what the relay remembers of servers has passed."""
    h.clock.offset += 4000
    h.tokens.clear()


def _modern() -> Fake:
    return modern_fake(TOOLS, lambda *_: {"result": DONE})


async def test_a_server_that_becomes_an_older_one_goes_on_answering() -> None:
    server = Changing(_modern())
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        for path, tool in CALLS:
            server.now = _modern()
            _later(h)
            assert (await h.modern(path, "tools/call", {"name": tool}))[0] == 200
            server.now = LegacyFake()
            status, body = await h.modern(path, "tools/call", {"name": tool})
            assert (status, body["result"]["structuredContent"]) == (200, {"n": 7})


async def test_a_server_that_becomes_a_newer_one_goes_on_answering() -> None:
    server = Changing(LegacyFake())
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        for path, tool in CALLS:
            server.now = LegacyFake()
            _later(h)
            assert (await h.modern(path, "tools/call", {"name": tool}))[0] == 200
            server.now = _modern()
            statuses = [(await h.modern(path, "tools/call", {"name": tool}))[0] for _ in range(3)]
            assert statuses[-1] == 200, statuses


def _refusing(code: int, status: int, data: Any = None) -> Fake:
    """A server that refuses whatever it is asked, `initialize` included."""

    def answer(_: web.Request, message: Any) -> Any:
        error = {"code": code, "message": "no", "data": data}
        body = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
        return web.json_response(body, status=status)

    return Fake(answer)


@pytest.mark.parametrize(
    ("code", "status", "data"),
    [
        (-32601, 404, None),
        (-32600, 400, None),
        (-32603, 200, None),
        (-32022, 400, {"supported": ["2099-01-01"], "requested": "2026-07-28"}),
    ],
)
async def test_a_server_that_refuses_every_handshake_is_quoted(
    code: int, status: int, data: Any
) -> None:
    async with (
        _refusing(code, status, data).served() as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        _, body = await h.send("/mcp/a", _begin())
        assert (body["error"]["code"], body["error"]["message"]) == (code, "no")
        _, body = await h.modern("/mcp/a", "tools/list")
        assert (body["error"]["code"], body["error"]["message"]) == (code, "no")
        status, body = await h.modern("/mcp", "tools/list")
        assert status == 502
        _, found = await h.ask(None)
        assert found["servers"][0]["reason"] == "upstream-refused"


async def test_a_handshake_without_a_version_is_refused_before_the_server_hears_of_it() -> None:
    fake = LegacyFake()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for path in ("/mcp/a", "/mcp"):
            status, body = await h.send(path, _message("initialize"))
            assert (status, body["error"]["code"]) == (400, -32602)
        assert fake.messages == []


async def test_a_handshake_with_a_server_that_fails_inside_is_the_servers_fault() -> None:
    fake = Fake(lambda *_: web.Response(status=500))
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        status, body = await h.send("/mcp/a", _begin())
        assert (status, body["error"]["data"]["kind"]) == (200, "upstream-refused")
        assert body["id"] == 1


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", 7, None])
async def test_a_server_that_chooses_an_impossible_version_is_not_believed(version: Any) -> None:
    def answer(_: web.Request, message: Any) -> Any:
        if message["method"] == "server/discover":
            return {"error": {"code": -32601, "message": "no"}}
        result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {}}
        return {"result": result}

    async with Fake(answer).served() as url, house([{"slug": "a", "url": url}]) as h:
        for wanted, (status, body) in (
            (200, await h.send("/mcp/a", _begin())),
            (502, await h.modern("/mcp/a", "tools/list")),
        ):
            assert (status, body["error"]["data"]["kind"]) == (wanted, "upstream-malformed")


@pytest.mark.parametrize("session", ["x" * 513, ""])
async def test_an_id_of_a_session_that_is_too_long_or_none_at_all_is_not_believed(
    session: str,
) -> None:
    class Long(LegacyFake):
        def _begin(self, message: dict[str, Any]) -> web.Response:
            reply = super()._begin(message)
            reply.headers["Mcp-Session-Id"] = session
            return reply

    async with Long().served() as url, house([{"slug": "a", "url": url}]) as h:
        for _, body in (await h.send("/mcp/a", _begin()), await h.modern("/mcp/a", "tools/list")):
            assert body["error"]["data"]["kind"] == "upstream-malformed"


async def test_a_lost_session_cannot_go_on_with_a_server_that_changed_its_version() -> None:
    server = Changing(LegacyFake())
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        older = LegacyFake()
        begin = older._begin
        older._begin = lambda message: begin(  # type: ignore[method-assign]
            {**message, "params": {"protocolVersion": "2025-06-18"}}
        )
        for _ in range(2):
            older.lose()
        server.now = older
        status, body = await h.send("/mcp/a", _message("tools/list"), headers=session)
        assert (status, body["error"]["message"]) == (404, "Session not found")
        assert (await h.send("/mcp/a", _message("tools/list"), headers=session))[0] == 404


async def test_a_lost_session_ends_when_the_server_opens_no_other() -> None:
    server = Changing(LegacyFake())
    async with server.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")

        def answer(request: web.Request, message: Any) -> Any:
            if message.get("method") == "initialize":
                return {"error": {"code": -32603, "message": "full"}}
            return web.Response(status=404)

        server.now = Fake(answer)
        for _ in range(2):
            assert (await h.send("/mcp/a", _message("tools/list"), headers=session))[0] == 404


async def test_a_server_that_loses_each_session_at_once_is_not_asked_for_ever() -> None:
    fake = LegacyFake()
    begin = fake._begin

    def forgetful(message: Any) -> web.Response:
        reply = begin(message)
        fake.lose()
        return reply

    fake._begin = forgetful  # type: ignore[method-assign]
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        assert (await h.send("/mcp/a", _message("tools/list"), headers=session))[0] == 404
        status, _ = await h.modern("/mcp/a", "tools/list")
        assert status == 502
        assert fake.opened < 8


async def test_a_stream_of_a_lost_session_is_opened_in_a_new_one() -> None:
    class Streaming(LegacyFake):
        def _reply(self, request: web.Request, message: Any) -> Any:
            known = request.headers.get("Mcp-Session-Id") == f"s{self._live}"
            if request.method == "GET" and known:
                return web.Response(body=b"data: {}\n\n", content_type="text/event-stream")
            return super()._reply(request, message)

    fake = Streaming()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        fake.lose()
        status, text = await h.send("/mcp/a", None, headers=session, verb="GET")
        assert (status, text) == (200, "data: {}\n\n")
        assert fake.opened == 2


async def test_a_server_without_a_stream_says_so_through_the_relay() -> None:
    class Plain(LegacyFake):
        def _reply(self, request: web.Request, message: Any) -> Any:
            if request.method == "GET":
                return web.Response(status=405)
            return super()._reply(request, message)

    async with (
        Plain().served() as url,
        _modern().served() as modern,
        house([{"slug": "a", "url": url}, {"slug": "b", "url": modern}]) as h,
    ):
        for path in ("/mcp/a", "/mcp/b", "/mcp"):
            session = await _open(h, path)
            status, _ = await h.send(path, None, headers=session, verb="GET")
            assert status == 405


async def test_a_question_that_cannot_be_carried_is_an_error_and_no_result() -> None:
    asked = {"q": {"method": "elicitation/create", "params": {"message": "?"}}}
    asking = {"resultType": "input_required", "inputRequests": asked}
    fake = modern_fake(TOOLS, lambda *_: {"result": asking})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        session = await _open(h, "/mcp/a")
        call = _message("tools/call", name="go", arguments={})
        status, body = await h.send("/mcp/a", call, headers=session)
        assert status == 200
        assert "cannot be asked" in body["error"]["message"]
        for method in ("tasks/list", "roots/list", "nope"):
            status, body = await h.send("/mcp/a", _message(method), headers=session)
            assert (status, body["error"]["code"]) == (200, -32601)


async def test_pages_that_no_tool_opens_are_shown_too() -> None:
    pages = [
        {"uri": "ui://x/listed", "name": "listed", "title": "Listed"},
        {"uri": "ui://x/named", "name": "named"},
        {"uri": "ui://x/declared", "name": "declared"},
        {"uri": "file:///x", "name": "file"},
        {"uri": 7},
        "x",
    ]
    tool = {
        "name": "go",
        "inputSchema": {},
        "annotations": {"title": "Go", "readOnlyHint": True},
        "_meta": {"ui/resourceUri": "ui://x/declared"},
    }

    def listed(*_: Any) -> Any:
        return {"result": {"resultType": "complete", "resources": pages}}

    fake = modern_fake([tool], **{"resources/list": listed})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        _, found = await h.ask(None)
        assert found["servers"][0]["apps"] == [
            {"uri": "ui://x/declared", "tool": "go", "title": "Go", "read_only": True},
            {"uri": "ui://x/listed", "tool": None, "title": "Listed", "read_only": True},
            {"uri": "ui://x/named", "tool": None, "title": "named", "read_only": True},
        ]
        question: dict[str, Any]
        question = {"method": "resources/list", "params": {}, "surface": "console", "page": None}
        _, answer = await h.ask("a", question)
        assert answer == {"result": {"resources": pages}}
