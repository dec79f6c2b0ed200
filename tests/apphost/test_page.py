"""MIME types, compared as type and profile."""

import pytest

from services.apphost.page import is_app_type

GOOD = [
    "text/html;profile=mcp-app",
    "text/html; profile=mcp-app",
    " TEXT/HTML ;\tProfile=mcp-app",
    'text/html;profile="mcp-app"',
    "text/html;charset=utf-8;profile=mcp-app",
    'text/html;profile=mcp-app;charset="UTF8"',
    "text/html;profile=mcp-app;version=1",
]
BAD = [
    "",
    "text/html",
    "text/html;",
    "text/html;profile",
    "text/html;profile=",
    "text/html;profile=MCP-APP",
    "text/html;profile=mcp-app2",
    "text/html;profile=xmcp-app",
    "text/html;xprofile=mcp-app",
    "text/html;profile=mcp-app;profile=mcp-app",
    "text/html;profile=other;profile=mcp-app",
    "text/html;profile*=utf-8''mcp-app",
    "text/html;profile=mcp-app;charset=utf-16",
    "text/html+xml;profile=mcp-app",
    "text/plain;profile=mcp-app",
    "application/json;profile=mcp-app",
    "text/html,profile=mcp-app",
    'text/html;profile="mcp-app',
    "text/html;profile=mcp-app\r\nX: y",
    "text/html;profile=mcp-app, text/html",
    "x" * 10_000,
    None,
    7,
    ["text/html;profile=mcp-app"],
]


@pytest.mark.parametrize("value", GOOD)
def test_an_app_page_is_known_however_it_is_written(value: str) -> None:
    assert is_app_type(value)


@pytest.mark.parametrize("value", BAD, ids=[repr(value)[:50] for value in BAD])
def test_another_type_is_no_page(value: object) -> None:
    assert not is_app_type(value)
