"""The SDK's client through the relay, in both versions, to servers of either era."""

from typing import Any

import pytest

from tests.relay.house import house
from tests.relay.upstreams import PAGE, PAGE_URI, sdk_app, served, toy_server

MODES = ("legacy", "2026-07-28")
ERAS = ("both", "legacy", "modern")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_lists_calls_and_reads_through_one_server(mode: str, era: str) -> None:
    async with served(sdk_app(toy_server(), era)) as url, house([{"slug": "a", "url": url}]) as h:
        for path in ("/mcp/a", "/mcp?servers=a"):
            async with h.client(path, mode) as client:
                tools = (await client.list_tools()).tools
                assert {"show", "echo", "delete", "slow"} == {t.name for t in tools}
                shown = next(t for t in tools if t.name == "show")
                assert shown.meta is not None
                assert shown.meta["ui"]["resourceUri"] == PAGE_URI
                result = await client.call_tool("echo", {"text": "hello"})
                assert _text(result) == "hello"
                assert _page(await client.read_resource(PAGE_URI)) == (PAGE_URI, PAGE)
                prompts = await client.list_prompts()
                assert [p.name for p in prompts.prompts] == ["describe"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_lists_calls_and_reads_through_the_merged_view(mode: str, era: str) -> None:
    async with (
        served(sdk_app(toy_server("one"), era)) as one,
        served(sdk_app(toy_server("two"))) as two,
        house([{"slug": "a", "url": one}, {"slug": "b-b", "url": two}]) as h,
        h.client("/mcp", mode) as client,
    ):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"a__echo", "b-b__echo", "a__show", "b-b__show"} <= set(tools)
        assert _text(await client.call_tool("a__show", {})) == "toys of one"
        assert _text(await client.call_tool("b-b__show", {})) == "toys of two"
        for name in ("a__show", "b-b__show"):
            meta = tools[name].meta
            assert meta is not None
            uri = meta["ui"]["resourceUri"]
            assert _page(await client.read_resource(uri)) == (uri, PAGE)


def _page(result: Any) -> tuple[str, str]:
    return str(result.contents[0].uri), result.contents[0].text


def _text(result: Any) -> str:
    assert result.is_error is not True, result
    return str(result.content[0].text)
