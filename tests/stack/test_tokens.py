"""Without a valid token /mcp says only how to get one; a revoked one is refused at once."""

import re

import pytest

from shared.ids import new_token
from tests.live import LiveStack, make_token, revoke_tokens
from tests.stack.callers import hello, message, post
from tests.visitor import ask

pytestmark = pytest.mark.stack

PATHS = ["/mcp", "/mcp/catalog", "/mcp?servers=catalog", "/mcp/nothing-here"]


@pytest.mark.parametrize("path", PATHS)
def test_without_a_token_the_answer_says_where_the_resource_is_described(
    stack: LiveStack, path: str
) -> None:
    reply = hello(stack.url + path, None)
    assert reply.status == 401
    header = reply.headers["WWW-Authenticate"]
    found = re.fullmatch(r'Bearer resource_metadata="([^"]+)", scope="mcp(:[a-z-]+)?"', header)
    assert found, header
    assert found[1].startswith(stack.url)
    document = ask(found[1])
    assert document.status == 200
    assert document.json()["resource"] == f"{stack.url}/mcp"
    (server,) = document.json()["authorization_servers"]
    described = ask(f"{server}/.well-known/oauth-authorization-server")
    assert described.status == 200
    assert described.json()["issuer"] == server


@pytest.mark.parametrize(
    "token",
    ["", "nonsense", "strad_pat_short", pytest.param(new_token(), id="unknown"), "x" * 5000],
)
def test_a_token_that_is_none_is_refused_and_not_repeated(stack: LiveStack, token: str) -> None:
    reply = hello(f"{stack.url}/mcp", token)
    assert reply.status == 401
    assert 'error="invalid_token"' in reply.headers["WWW-Authenticate"]
    assert not token or token not in reply.text


def test_a_token_works_in_the_header_only(stack: LiveStack) -> None:
    token = stack.token("ada")
    url = f"{stack.url}/mcp/catalog"
    assert hello(f"{url}?access_token={token}", None).status == 401
    assert hello(url, None, Cookie=f"access_token={token}").status == 401
    assert hello(url, token).status == 200


def test_a_session_of_the_console_is_no_token(stack: LiveStack) -> None:
    cookie = stack.sign_in("ada")
    assert hello(f"{stack.url}/mcp", None, Cookie=f"__Host-strad={cookie}").status == 401
    assert hello(f"{stack.url}/mcp", cookie).status == 401


def test_a_revoked_token_is_refused_on_the_next_request_of_an_open_session(
    stack: LiveStack,
) -> None:
    visitor = stack.visitor("ada")
    token = make_token(visitor)
    url = f"{stack.url}/mcp/catalog"
    begun = hello(url, token)
    assert begun.status == 200
    session = begun.headers.get("Mcp-Session-Id")
    more = {"Mcp_Session_Id": session} if session else {}
    post(url, token, message("notifications/initialized", id_=None), **more)
    assert post(url, token, message("tools/list"), **more).status == 200
    revoke_tokens(visitor)
    refused = post(url, token, message("tools/list"), **more)
    assert refused.status == 401
    assert 'error="invalid_token"' in refused.headers["WWW-Authenticate"]


def test_nobody_revokes_the_token_of_another(stack: LiveStack) -> None:
    visitor = stack.visitor("ada")
    token = make_token(visitor)
    page = visitor.get("/auth/tokens")
    (action, *_) = re.findall(r'action="(/auth/tokens/[^"]+/revoke)"', page.text)
    assert stack.visitor("charles").post(action, {}).status == 404
    assert hello(f"{stack.url}/mcp", token).status == 200


def test_signing_out_leaves_tokens_and_signing_in_makes_none(stack: LiveStack) -> None:
    visitor = stack.visitor("ada")
    token = make_token(visitor)
    assert visitor.post("/auth/sign-out", {}).status == 303
    assert visitor.get("/auth/tokens").status == 303
    assert hello(f"{stack.url}/mcp", token).status == 200
