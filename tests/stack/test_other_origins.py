"""What a page of another origin may read, through the edge: two descriptions, and nothing else."""

import pytest

from shared.contracts.wire import JWKS_PATH
from tests.live import LiveStack
from tests.visitor import ask

pytestmark = pytest.mark.stack

RESOURCE = "/.well-known/oauth-protected-resource"
DESCRIPTIONS = [
    "/.well-known/oauth-authorization-server",
    *(RESOURCE + below for below in ("", "/mcp", "/mcp/catalog", "/mcp/nothing-here")),
]
OTHERS = [
    *("/", "/static/strad.css", "/auth/sign-in", "/auth/static/strad.css", "/auth/tokens"),
    *("/oauth/authorize", "/oauth/token", "/oauth/register", "/oauth/revoke"),
    *("/mcp", "/mcp/catalog", "/apps/catalog", "/apps/catalog/frame", JWKS_PATH),
    *("/nothing-here", f"{RESOURCE}/nothing", "/.well-known/openid-configuration"),
]
PAGE = {"Origin": "https://evil.test"}
WISHES = PAGE | {"Access-Control-Request-Method": "GET"}


@pytest.mark.parametrize("path", DESCRIPTIONS)
def test_a_client_in_a_browser_reads_what_describes_resource_and_server(
    stack: LiveStack, path: str
) -> None:
    reply = ask(stack.url + path, headers=PAGE)
    assert reply.status == 200
    assert reply.headers.get_all("Access-Control-Allow-Origin") == ["*"]
    assert "Access-Control-Allow-Credentials" not in reply.headers
    assert reply.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert reply.headers["Cache-Control"] == "public, max-age=300"
    asked = ask(stack.url + path, "OPTIONS", headers=WISHES)
    assert asked.status == 204
    assert asked.headers["Access-Control-Allow-Methods"] == "GET"
    assert asked.headers["Access-Control-Allow-Headers"] == "MCP-Protocol-Version"


@pytest.mark.parametrize("path", OTHERS)
def test_a_page_of_another_origin_reads_nothing_else(stack: LiveStack, path: str) -> None:
    for method, headers in (("GET", PAGE), ("POST", PAGE), ("OPTIONS", WISHES)):
        reply = ask(stack.url + path, method, headers=headers)
        found = [name for name in reply.headers if name.lower().startswith("access-control-")]
        assert found == [], method
        assert reply.headers.get("Cross-Origin-Resource-Policy", "same-origin") == "same-origin"


def test_servers_may_keep_the_key_set_for_as_long_as_a_rotation_waits(stack: LiveStack) -> None:
    reply = ask(stack.url + JWKS_PATH)
    assert reply.status == 200
    assert reply.headers["Content-Type"].startswith("application/json")
    assert reply.headers["Cache-Control"] == "public, max-age=300"
