"""Servers that fail, each in its own way: the answer names it, and never looks like success."""

import asyncio
from typing import Any

import pytest
from aiohttp import web

from services.relay.servers.failures import MAX_ANSWER_BYTES
from tests.relay.house import House, house
from tests.relay.upstreams import Fake, modern_fake

UNREACHABLE = (502, "upstream-unreachable")
MALFORMED = (502, "upstream-malformed")
REFUSED = (502, "upstream-refused")


def _raw(body: bytes, kind: str = "application/json", status: int = 200) -> web.Response:
    return web.Response(body=body, content_type=kind, status=status)


async def _hang(_: Any, __: Any) -> None:
    await asyncio.sleep(30)


async def _drip(request: web.Request, _: Any) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for _number in range(600):
        await response.write(b" ")
        await asyncio.sleep(0.05)
    return response


async def _huge(request: web.Request, _: Any) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for _number in range(MAX_ANSWER_BYTES // 2**20 + 2):
        await response.write(b" " * 2**20)
    return response


async def _huge_event(request: web.Request, _: Any) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    await response.write(b"data: ")
    for _number in range(MAX_ANSWER_BYTES // 2**20 + 2):
        await response.write(b" " * 2**20)
    return response


async def _cut(request: web.Request, _: Any) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"Content-Length": "100", "Content-Type": "application/json"}
    )
    await response.prepare(request)
    await response.write(b'{"jsonrpc"')
    assert request.transport is not None
    request.transport.abort()
    return response


def _redirect(_: Any, __: Any) -> web.Response:
    return web.Response(status=307, headers={"Location": "http://127.0.0.1:1/elsewhere"})


def _declared_huge(_: Any, __: Any) -> web.Response:
    return _raw(b" " * (MAX_ANSWER_BYTES + 1))


ERROR_OF_ANOTHER = b'{"jsonrpc":"2.0","id":99,"error":{"code":-32600,"message":"no"}}'
FAULTS: dict[str, tuple[Any, tuple[int, str]]] = {
    "hangs": (_hang, (504, "upstream-timeout")),
    "drips": (_drip, (504, "upstream-timeout")),
    "is huge": (_huge, (502, "upstream-too-large")),
    "says it is huge": (_declared_huge, (502, "upstream-too-large")),
    "sends a huge event": (_huge_event, (502, "upstream-too-large")),
    "breaks off": (_cut, UNREACHABLE),
    "redirects": (_redirect, REFUSED),
    "wants other credentials": (lambda *_: _raw(b"{}", status=401), REFUSED),
    "forbids": (lambda *_: _raw(b"{}", status=403), REFUSED),
    "fails inside": (lambda *_: _raw(b"{}", status=500), REFUSED),
    "knows no such address": (lambda *_: _raw(b"<h1>", "text/html", 404), REFUSED),
    "is not JSON": (lambda *_: _raw(b"garbage"), MALFORMED),
    "is empty": (lambda *_: _raw(b""), MALFORMED),
    "is deep": (lambda *_: _raw(b"[" * 200_000), MALFORMED),
    "is a list": (lambda *_: _raw(b"[]"), MALFORMED),
    "is no answer": (lambda *_: _raw(b'{"jsonrpc":"2.0","id":7}'), MALFORMED),
    "refuses another": (lambda *_: _raw(ERROR_OF_ANOTHER), MALFORMED),
    "answers another": (lambda *_: _raw(b'{"jsonrpc":"2.0","id":99,"result":{}}'), MALFORMED),
    "is a page": (lambda *_: _raw(b"<h1>hello", "text/html"), MALFORMED),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_server_that(fault: str) -> None:
    answer, (status, kind) = FAULTS[fault]
    fake = modern_fake([], answer)
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url, "timeout": 1}]) as h,
    ):
        one, merged = await asyncio.gather(
            h.modern("/mcp/x", "tools/call", {"name": "go"}),
            h.modern("/mcp", "tools/call", {"name": "x__go"}),
        )
        got, body = one
        assert (got, body["id"], body["error"]["code"]) == (status, 7, -32603)
        assert body["error"]["data"]["kind"] == kind
        assert "result" not in body
        got, body = merged
        assert (got, body["error"]["data"]["kind"]) == (status, kind)


async def test_a_server_that_does_not_run_is_named_unreachable() -> None:
    async with house([{"slug": "x", "url": "http://127.0.0.1:9/mcp"}]) as h:
        for path, name in (("/mcp/x", "go"), ("/mcp", "x__go")):
            status, body = await h.modern(path, "tools/call", {"name": name})
            assert (status, body["error"]["data"]["kind"]) == UNREACHABLE
            assert body["error"]["message"].startswith("X cannot be reached.")


async def test_an_address_that_no_server_lives_at_is_never_connected_to() -> None:
    async with house([{"slug": "x", "url": "http://169.254.169.254/mcp"}]) as h:
        status, body = await h.modern("/mcp/x", "tools/list")
        assert (status, body["error"]["data"]["kind"]) == UNREACHABLE


async def _stream_then(request: web.Request, end: str) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    note = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'
    await response.write(note)
    if end == "hang":
        await asyncio.sleep(30)
    elif end == "cut":
        await asyncio.sleep(0.05)
        assert request.transport is not None
        request.transport.abort()
    elif end == "garbage":
        await response.write(b"data: {garbage\n\n")
    return response


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        ("hang", "upstream-timeout"),
        ("cut", "upstream-unreachable"),
        ("end", "upstream-unreachable"),
        ("garbage", "upstream-malformed"),
    ],
)
async def test_a_stream_that_stops_without_an_answer_ends_in_an_error(end: str, kind: str) -> None:
    fake = modern_fake([], lambda request, _: _stream_then(request, end))
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url, "timeout": 1}]) as h,
    ):
        status, text = await h.modern("/mcp/x", "tools/call", {"name": "go"})
        assert status == 200
        assert text.startswith('data: {"jsonrpc":"2.0","method":"notifications/message"')
        last = text.strip().split("\n\n")[-1]
        assert kind in last
        assert '"id":7' in last


async def test_a_stream_that_can_be_taken_up_again_ends_without_a_word() -> None:
    async def call(request: web.Request, _: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"id: 1\nretry: 10\ndata:\n\n")
        return response

    async with modern_fake([], call).served() as url, house([{"slug": "x", "url": url}]) as h:
        status, text = await h.modern("/mcp/x", "tools/call", {"name": "go"})
        assert (status, text) == (200, "id: 1\nretry: 10\ndata:\n\n")


async def test_a_stream_without_anything_in_it_is_no_answer() -> None:
    fake = modern_fake([], lambda *_: _raw(b"", "text/event-stream"))
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        for path, name in (("/mcp/x", "go"), ("/mcp", "x__go")):
            status, body = await h.modern(path, "tools/call", {"name": name})
            assert (status, body["error"]["data"]["kind"]) == UNREACHABLE


async def test_a_caller_who_leaves_cancels_the_call_at_the_server() -> None:
    began, left = asyncio.Event(), asyncio.Event()

    async def call(_: Any, __: Any) -> None:
        began.set()
        try:
            await asyncio.sleep(30)
        finally:
            left.set()

    async with (
        modern_fake([], call).served() as url,
        house([{"slug": "x", "url": url, "timeout": 20}]) as h,
    ):
        for path, name in (("/mcp/x", "go"), ("/mcp", "x__go")):
            began.clear()
            left.clear()
            task = asyncio.create_task(h.modern(path, "tools/call", {"name": name}))
            await asyncio.wait_for(began.wait(), 5)
            task.cancel()
            async with asyncio.timeout(2):
                await left.wait()


async def test_after_a_failure_the_next_call_is_answered_by_the_server() -> None:
    broken = True

    def call(_: Any, __: Any) -> Any:
        return _raw(b"garbage") if broken else {"result": {"resultType": "complete", "content": []}}

    async with modern_fake([], call).served() as url, house([{"slug": "x", "url": url}]) as h:
        assert (await h.modern("/mcp/x", "tools/call", {"name": "go"}))[0] == 502
        broken = False
        assert (await h.modern("/mcp/x", "tools/call", {"name": "go"}))[0] == 200


async def test_an_error_of_a_tool_is_the_tools_own() -> None:
    said = {
        "content": [{"type": "text", "text": "the real reason"}],
        "isError": True,
        "resultType": "complete",
    }
    fake = modern_fake([], lambda *_: {"result": said})
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        for path, name in (("/mcp/x", "go"), ("/mcp", "x__go")):
            status, body = await h.modern(path, "tools/call", {"name": name})
            body["result"].pop("_meta", None)  # in the merged view the relay presents itself
            assert (status, body["result"]) == (200, said)


async def _seen(h: House, fake: Fake, headers: dict[str, str]) -> list[set[str]]:
    await h.modern("/mcp/x", "tools/call", {"name": "go"}, headers=headers)
    await h.modern("/mcp", "tools/call", {"name": "x__go"}, headers=headers)
    return [{name.lower() for name in request.headers} for request in fake.seen]


async def test_a_server_sees_the_operators_credentials_and_none_of_the_callers() -> None:
    fake = modern_fake([], lambda *_: {"result": {"resultType": "complete", "content": []}})
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url}], credentials={"x": {"Authorization": "Bearer op"}}) as h,
    ):
        headers = {
            "Cookie": "__Host-strad=secret",
            "Proxy-Authorization": "Basic secret",
            "X-Forwarded-For": "1.2.3.4",
            "X-Forwarded-Proto": "http",
            "Forwarded": "for=1.2.3.4",
            "Origin": h.url,
            "Referer": h.url,
            "X-Api-Key": "secret",
            "Strad-Assertion": "secret",
            "Strad-Identity": "secret",
            "User-Agent": "secret",
            "Accept-Encoding": "gzip",
            "Accept-Language": "de",
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "Mcp-Param-Region": "eu",
        }
        allowed = {
            "host",
            "accept",
            "accept-encoding",
            "content-type",
            "content-length",
            "user-agent",
            "authorization",
            "mcp-protocol-version",
            "mcp-method",
            "mcp-name",
            "mcp-param-region",
            "traceparent",
        }
        for names in await _seen(h, fake, headers):
            assert names <= allowed
        for request in fake.seen:
            assert request.headers["Authorization"] == "Bearer op"
            # of a compressed answer nobody knows how much it is
            assert request.headers["Accept-Encoding"] == "identity"
            assert "secret" not in str(dict(request.headers))
        called = [r for r in fake.seen if r.headers["Mcp-Method"] == "tools/call"]
        assert [r.headers["Mcp-Param-Region"] for r in called] == ["eu", "eu"]
        assert [r.headers["Mcp-Name"] for r in called] == ["go", "go"]


async def test_a_server_hears_the_operators_language_and_never_the_callers() -> None:
    fake = modern_fake([], lambda *_: {"result": {"resultType": "complete", "content": []}})
    async with (
        fake.served() as url,
        house(
            [{"slug": "x", "url": url, "language": "de-AT, en;q=0.5"}, {"slug": "y", "url": url}]
        ) as h,
    ):
        await h.modern("/mcp/x", "tools/list", headers={"Accept-Language": "fr"})
        assert {r.headers["Accept-Language"] for r in fake.seen} == {"de-AT, en;q=0.5"}
        fake.seen.clear()
        await h.modern("/mcp/y", "tools/list", headers={"Accept-Language": "fr"})
        assert fake.seen
        assert not any("Accept-Language" in request.headers for request in fake.seen)


async def _out_is_never_connected_to(host: str) -> None:
    """Of two servers at one place the one may go there, and does; the other may not."""
    fake = modern_fake([], lambda *_: {"result": {"resultType": "complete", "content": []}})
    async with fake.served() as url:
        servers = [
            {"slug": "in", "url": url, "addresses": ["127.0.0.0/8"]},
            {"slug": "out", "url": url.replace("127.0.0.1", host), "addresses": ["10.0.0.0/8"]},
        ]
        async with house(servers) as h:
            assert (await h.modern("/mcp/in", "tools/call", {"name": "go"}))[0] == 200
            before = len(fake.seen)
            status, body = await h.modern("/mcp/out", "tools/call", {"name": "go"})
            assert (status, body["error"]["data"]["kind"]) == UNREACHABLE
            assert len(fake.seen) == before


async def test_a_name_that_leads_out_of_its_servers_networks_is_not_connected_to() -> None:
    await _out_is_never_connected_to("localhost")


async def test_a_connection_of_one_server_is_of_no_use_to_another_that_may_not_go_there() -> None:
    # the first one's is kept open, to the very place that the other one names
    await _out_is_never_connected_to("127.0.0.1")


async def test_callers_of_a_server_that_hangs_do_not_wait_for_one_another() -> None:
    async with (
        Fake(_hang).served() as url,
        house([{"slug": "x", "url": url, "timeout": 1}]) as h,
    ):
        await h.token()
        async with asyncio.timeout(2):
            answers = await asyncio.gather(*(h.modern("/mcp/x", "tools/list") for _ in range(8)))
        assert {status for status, _ in answers} == {504}
