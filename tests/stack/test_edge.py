"""The one origin: what comes in from outside changes nothing but what it is meant to."""

import json
import socket
from urllib.parse import urlsplit

import pytest

from shared.contracts.wire import ASSERTION_HEADER, INTERNAL_SERVERS_PATH, SESSION_COOKIE
from tests.live import LiveStack
from tests.stack.callers import answer, hello, message, post
from tests.visitor import ask

pytestmark = pytest.mark.stack

one_page_of_each_service = pytest.mark.parametrize("path", ["/", "/auth/sign-in", "/mcp"])
LIST = message("tools/call", {"name": "list_toys", "arguments": {"query": ""}})


def listening(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


@one_page_of_each_service
@pytest.mark.parametrize(
    "host", ["evil.test", "localhost", "127.0.0.1", "{host}.evil.test", "{host}:80", "127.0.0.1:1"]
)
def test_a_wrong_host_is_refused_with_the_right_one(stack: LiveStack, path: str, host: str) -> None:
    right = urlsplit(stack.url).netloc
    reply = ask(stack.url + path, headers={"Host": host.format(host=right)})
    assert reply.status == 421
    assert right in reply.text
    assert "Set-Cookie" not in reply.headers


@pytest.mark.parametrize(
    "path",
    [
        "/internal",
        INTERNAL_SERVERS_PATH,
        "/internal/v1/servers/catalog/rpc",
        "/INTERNAL/v1/servers",
        "//internal/v1/servers",
        "/%69nternal/v1/servers",
        "/mcp/../internal/v1/servers",
        "/mcp/%2e%2e/internal/v1/servers",
        "/metrics",
        "/healthz",
        "/readyz",
        "/auth/../metrics",
    ],
)
def test_nothing_internal_answers_through_the_edge(stack: LiveStack, path: str) -> None:
    visitor = stack.visitor("ada")
    cookie = {"Cookie": f"__Host-strad={visitor.cookie('__Host-strad')}"}
    token = {"Authorization": f"Bearer {stack.token('ada')}"}
    for headers in ({}, cookie, token):
        reply = ask(stack.url + path, headers=headers)
        assert reply.status in {303, 401, 404, 405}, reply.text
        assert "strad_requests" not in reply.text
        assert '"servers"' not in reply.text
        # a redirect leads to the sign-in page, and nowhere inside
        assert reply.status != 303 or reply.location.startswith("/auth/sign-in")


def test_the_public_ports_of_the_services_know_no_internal_path(stack: LiveStack) -> None:
    right = {"Host": urlsplit(stack.url).netloc}
    for service, port in stack.ports.items():
        for path in (INTERNAL_SERVERS_PATH, "/metrics", "/healthz", "/readyz"):
            reply = ask(f"http://127.0.0.1:{port}{path}", headers=right)
            assert reply.status == 404, (service, path)


def test_everything_listens_on_this_machine_only(stack: LiveStack) -> None:
    other = _another_address()
    ports = [stack.settings.port, stack.settings.provider_port, stack.redis_port]
    ports += [*stack.ports.values(), *stack.internal_ports.values()]
    assert all(listening("127.0.0.1", port) for port in ports)
    assert not any(listening(other, port) for port in ports)


def test_the_internal_interface_takes_no_stranger_at_its_own_port_either(
    stack: LiveStack,
) -> None:
    url = f"http://127.0.0.1:{stack.internal_ports['relay']}{INTERNAL_SERVERS_PATH}"
    for assertion in ("", "x", "eyJhbGciOiJub25lIn0.eyJhdWQiOiJyZWxheSJ9."):
        assert ask(url, headers={ASSERTION_HEADER: assertion}).status == 401
    assert ask(url).status == 401


@pytest.mark.parametrize(
    "header",
    [
        (ASSERTION_HEADER, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."),
        ("Strad-Identity", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."),
        ("X-Forwarded-User", "ada@strad.test"),
        ("X-Forwarded-Email", "ada@strad.test"),
        ("X-Remote-User", "ada@strad.test"),
        ("Remote-User", "ada@strad.test"),
    ],
)
def test_a_header_that_names_a_person_makes_nobody_of_a_stranger(
    stack: LiveStack, header: tuple[str, str]
) -> None:
    named = dict([header])
    assert ask(f"{stack.url}/", headers=named).status == 303
    assert ask(f"{stack.url}/auth/tokens", headers=named).status == 303
    assert hello(f"{stack.url}/mcp", None, **named).status == 401
    # and nobody else of somebody
    reply = post(f"{stack.url}/mcp/catalog", stack.token("charles"), LIST, **named)
    assert reply.status == 404


def test_a_callers_identity_header_does_not_reach_the_server(stack: LiveStack) -> None:
    url, token = f"{stack.url}/mcp/catalog", stack.token("ada")
    forged = {"Strad_Identity": "eyJhbGciOiJub25lIn0.eyJlbWFpbCI6ImNoYXJsZXMifQ."}
    session = hello(url, token, **forged).headers.get("Mcp-Session-Id")
    more = forged | ({"Mcp_Session_Id": session} if session else {})
    reply = post(url, token, LIST, **more)
    assert reply.status == 200
    result = answer(reply)["result"]
    assert result["structuredContent"]["caller"] == {"known": True, "email": "ada@strad.test"}


@one_page_of_each_service
@pytest.mark.parametrize("size", [9_000, 16_000, 24_000, 48_000, 200_000])
def test_a_refusal_of_a_large_header_does_not_show_what_was_in_it(
    stack: LiveStack, path: str, size: int
) -> None:
    """A sibling host can make a browser send large cookies; ours is kept from every script."""
    reply = ask(stack.url + path, headers={"Cookie": f"{SESSION_COOKIE}=secret; x={'x' * size}"})
    assert (reply.status == 431) is (size > 20_000)
    assert "secret" not in reply.text


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-Host": "evil.test"},
        {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.test", "X-Forwarded-Port": "1"},
        {"Forwarded": "host=evil.test;proto=https;for=1.2.3.4"},
        {"X-Original-URL": "/internal/v1/servers", "X-Rewrite-URL": "/metrics"},
        {"X-Forwarded-Prefix": "/evil"},
    ],
)
def test_forwarding_headers_change_no_address_and_no_answer(
    stack: LiveStack, headers: dict[str, str]
) -> None:
    plain, dressed = ask(f"{stack.url}/"), ask(f"{stack.url}/", headers=headers)
    assert (dressed.status, dressed.location) == (plain.status, plain.location)
    plain, dressed = hello(f"{stack.url}/mcp", None), hello(f"{stack.url}/mcp", None, **headers)
    assert dressed.status == 401
    assert dressed.headers["WWW-Authenticate"] == plain.headers["WWW-Authenticate"]
    start = ask(f"{stack.url}/auth/start", headers=headers)
    assert start.location.startswith(f"{stack.provider_url}/authorize?")
    assert "evil" not in start.location


@pytest.mark.parametrize(
    "origin", ["https://evil.test", "null", "http://127.0.0.1", "{provider}", "{url}.evil.test"]
)
def test_what_changes_something_is_taken_from_our_own_pages_only(
    stack: LiveStack, origin: str
) -> None:
    visitor = stack.visitor("ada")
    origin = origin.format(provider=stack.provider_url, url=stack.url)
    form = {"label": "x", "life": "86400"}
    assert visitor.post("/auth/tokens", form, Origin=origin).status == 403
    assert visitor.post("/auth/sign-out", {}, Origin=origin).status == 403
    call = {"name": "list_toys", "arguments": {}, "page": "ui://catalog/view-v1", "surface": "app"}
    assert visitor.post_json("/apps/catalog/tools/call", call, Origin=origin).status == 403
    assert visitor.get("/auth/tokens").status == 200, "still signed in"


def test_a_form_cannot_call_a_tool(stack: LiveStack) -> None:
    visitor = stack.visitor("ada")
    call = {"name": "list_toys", "surface": "app"}
    assert visitor.post("/apps/catalog/tools/call", call).status == 415
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        body = {"Content_Type": kind}
        assert visitor.post_json("/apps/catalog/tools/call", call, **body).status == 415, kind


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_form_cannot_be_an_mcp_message(stack: LiveStack, kind: str) -> None:
    reply = hello(f"{stack.url}/mcp/catalog", stack.token("ada"), Content_Type=kind)
    assert reply.status == 415


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 20000,
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
    ],
)
def test_a_malformed_message_is_a_named_error_and_never_a_fault_of_ours(
    stack: LiveStack, body: bytes
) -> None:
    reply = post(f"{stack.url}/mcp/catalog", stack.token("ada"), body)
    assert reply.status == 400
    assert json.loads(reply.body)["error"]["code"] in {-32700, -32600}


def _another_address() -> str:
    """An address of this machine that is not 127.0.0.1: of its network, or 127.0.0.2."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only chooses a way out
        except OSError:
            return "127.0.0.2"
        return str(probe.getsockname()[0])
