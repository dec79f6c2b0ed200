"""The official client works through /mcp, in both protocol versions, within its person's rights."""

import json
from typing import Any

import pytest
from mcp_types import CallToolResult, TextResourceContents

from shared.contracts.wire import APP_MIME_TYPE
from tests.live import LiveStack
from tests.stack.callers import NEW, OLD, connected, hello, refusal

pytestmark = pytest.mark.stack

both_versions = pytest.mark.parametrize("version", [OLD, NEW])
one_server = pytest.mark.parametrize("path", ["/mcp/catalog", "/mcp?servers=catalog"])
PAGE = "ui://catalog/view-v1"


@pytest.fixture(scope="module")
def ada(stack: LiveStack) -> str:
    return stack.token("ada")


def toys(result: CallToolResult) -> Any:
    assert not result.is_error, result
    assert result.structured_content is not None
    return result.structured_content["toys"]


@both_versions
@one_server
async def test_a_client_lists_the_tools_of_one_server_by_their_own_names(
    stack: LiveStack, ada: str, path: str, version: str
) -> None:
    async with connected(stack.url + path, ada, version) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {"show_catalog", "list_toys", "set_aside"}
    assert (tools["show_catalog"].meta or {})["ui"]["resourceUri"] == PAGE


@both_versions
@one_server
async def test_a_client_calls_a_tool_as_its_person(
    stack: LiveStack, ada: str, path: str, version: str
) -> None:
    async with connected(stack.url + path, ada, version) as client:
        result = await client.call_tool("list_toys", {"query": ""})
    assert len(toys(result)) > 3
    # the server knows the caller by the relay's signature only, and so the language
    assert result.structured_content is not None
    assert result.structured_content["caller"] == {"known": True, "email": "ada@strad.test"}
    assert result.structured_content["locale"] == "de-DE"


@both_versions
@one_server
async def test_a_client_reads_the_page(stack: LiveStack, ada: str, path: str, version: str) -> None:
    async with connected(stack.url + path, ada, version) as client:
        (content,) = (await client.read_resource(PAGE)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == APP_MIME_TYPE
    assert content.text.lstrip().lower().startswith("<!doctype html>")


@both_versions
async def test_the_merged_view_lists_all_servers_under_prefixed_names(
    stack: LiveStack, ada: str, version: str
) -> None:
    async with connected(f"{stack.url}/mcp", ada, version) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert {"catalog__show_catalog", "catalog__list_toys", "catalog__set_aside"} <= names
    assert {name.partition("__")[0] for name in names} == {"catalog", "hostile"}


@both_versions
async def test_the_merged_view_calls_the_right_server(
    stack: LiveStack, ada: str, version: str
) -> None:
    async with connected(f"{stack.url}/mcp", ada, version) as client:
        result = await client.call_tool("catalog__list_toys", {"query": ""})
    assert len(toys(result)) > 3


@both_versions
async def test_the_merged_view_lists_a_page_under_an_address_that_can_be_read(
    stack: LiveStack, ada: str, version: str
) -> None:
    async with connected(f"{stack.url}/mcp", ada, version) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        address = (tools["catalog__show_catalog"].meta or {})["ui"]["resourceUri"]
        (content,) = (await client.read_resource(address)).contents
    assert isinstance(content, TextResourceContents)
    assert content.mime_type == APP_MIME_TYPE
    assert content.uri == address


@both_versions
async def test_a_call_with_side_effects_has_its_effect_for_this_person(
    stack: LiveStack, ada: str, version: str
) -> None:
    async with connected(f"{stack.url}/mcp/catalog", ada, version) as client:
        before = toys(await client.call_tool("list_toys", {"query": ""}))
        toy = next(one for one in before if one["left"] > 1 and one["heldUntil"] is None)
        held = await client.call_tool("set_aside", {"toy": toy["id"]})
        assert not held.is_error, held
        after = toys(await client.call_tool("list_toys", {"query": ""}))
    now = next(one for one in after if one["id"] == toy["id"])
    assert now["left"] == toy["left"] - 1
    assert now["heldUntil"]


@both_versions
async def test_a_tool_that_does_not_exist_is_an_error_and_no_empty_success(
    stack: LiveStack, ada: str, version: str
) -> None:
    async with connected(f"{stack.url}/mcp/catalog", ada, version) as client:
        assert "no_such_tool" in await refusal(client, "no_such_tool")


@both_versions
async def test_a_person_without_the_right_sees_no_server_and_no_tool(
    stack: LiveStack, version: str
) -> None:
    token = stack.token("charles")
    async with connected(f"{stack.url}/mcp", token, version) as client:
        assert (await client.list_tools()).tools == []
        assert "catalog__list_toys" in await refusal(client, "catalog__list_toys")


@pytest.mark.parametrize("path", ["/mcp/catalog", "/mcp?servers=catalog", "/mcp/nonesuch"])
def test_a_server_without_the_right_is_a_server_that_does_not_exist(
    stack: LiveStack, path: str
) -> None:
    refused = hello(stack.url + path, stack.token("charles"))
    unknown = hello(f"{stack.url}/mcp/nothing-here", stack.token("ada"))
    assert (refused.status, _words(refused.text)) == (404, _words(unknown.text))


def test_a_token_for_one_server_opens_no_other(stack: LiveStack) -> None:
    token = stack.token("ada", "catalog")
    assert hello(f"{stack.url}/mcp/catalog", token).status == 200
    assert hello(f"{stack.url}/mcp/hostile", token).status == 404


def _words(text: str) -> Any:
    value = json.loads(text)
    value["error"]["data"].pop("request_id")
    return value
