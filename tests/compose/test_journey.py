"""The demo in containers, used as in `make run`: in a browser's way and with a client."""

import re

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from shared.contracts.wire import MCP_PATH, SIGN_IN_PATH, TOKENS_PATH
from tests.compose.person import sign_in
from tests.compose.stack import Stack
from tests.visitor import Visitor, ask

pytestmark = pytest.mark.compose

DAY = "86400"


@pytest.fixture(scope="module")
def ada(containers: Stack) -> Visitor:
    """Signed in, by way of the console's own pages and the provider's."""
    return sign_in(containers, "demo-ada", "/apps/catalog")


def test_a_stranger_is_sent_to_sign_in_and_would_come_back(containers: Stack) -> None:
    answer = Visitor(containers.url).get("/apps/catalog")
    assert answer.status == 303
    assert answer.location.startswith(SIGN_IN_PATH)
    assert "catalog" in answer.location


def test_ada_opens_the_catalogue_and_its_page_comes_sandboxed(ada: Visitor) -> None:
    page = ada.get("/apps/catalog")
    assert page.status == 200
    assert "Toy catalogue" in page.text
    frame = ada.get("/apps/catalog/frame", Sec_Fetch_Dest="iframe", Sec_Fetch_Site="same-origin")
    assert frame.status == 200
    assert "sandbox" in frame.headers["Content-Security-Policy"]
    assert "<script" in frame.text


def test_charles_sees_no_catalogue(containers: Stack) -> None:
    charles = sign_in(containers, "demo-charles", "/")
    assert "Toy catalogue" not in charles.get("/").text
    assert charles.get("/apps/catalog").status == 404


async def test_a_client_with_a_token_calls_a_tool(containers: Stack, ada: Visitor) -> None:
    made = ada.post(TOKENS_PATH, {"label": "compose", "life": DAY, "reach": "every"})
    token = re.search(r"strad_pat_[A-Za-z0-9_-]+", made.text)
    assert token, made.text
    headers = {"Authorization": f"Bearer {token[0]}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(
            streamable_http_client(f"{containers.url}{MCP_PATH}/catalog", http_client=http)
        ) as client,
    ):
        listed = await client.list_tools()
        assert "list_toys" in {tool.name for tool in listed.tools}
        toys = await client.call_tool("list_toys")
        # in Ada's language: the server has checked the relay's signature on who calls
        assert "Blechrakete" in toys.model_dump_json()


def test_without_a_token_a_client_is_told_where_to_look(containers: Stack) -> None:
    answer = ask(f"{containers.url}{MCP_PATH}/catalog", "POST", body="{}")
    assert answer.status == 401
    assert "resource_metadata" in answer.headers["WWW-Authenticate"]
