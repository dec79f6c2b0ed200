"""Log lines of a server reach the caller that asked for them, whatever either of them speaks."""

import json
from typing import Any, get_args

import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import EmptyResult, LoggingLevel, SetLevelRequestParams

from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller
from tests.relay.twins import twin
from tests.relay.upstreams import sdk_app, served

LEVEL = "io.modelcontextprotocol/logLevel"
LINES: tuple[LoggingLevel, ...] = ("debug", "info", "warning", "error")

# the SDK's own word on logging since 2026-07-28
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
one_and_merged = pytest.mark.parametrize(("path", "tool"), [("/mcp/a", "say"), ("/mcp", "a__say")])


def _saying() -> MCPServer:
    server = MCPServer("say")

    @server.tool()
    async def say(ctx: Context[Any]) -> str:
        for level in LINES:
            await ctx.log(level, f"a {level}")
        return "done"

    async def set_level(ctx: Any, params: SetLevelRequestParams) -> EmptyResult:
        return EmptyResult()

    low = server._lowlevel_server
    low.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)
    return server


def _levels(messages: list[Any]) -> list[str]:
    *said, last = messages
    assert "result" in last
    assert {m["method"] for m in said} <= {"notifications/message"}
    return [m["params"]["level"] for m in said]


async def _modern_call(h: House, path: str, tool: str, level: str | None) -> list[str]:
    meta = {} if level is None else {LEVEL: level}
    status, text = await h.modern(path, "tools/call", {"name": tool, "_meta": meta})
    assert status == 200
    if not isinstance(text, str):
        return _levels([text])
    data = [line[5:] for line in text.splitlines() if line.startswith("data:")]
    return _levels([json.loads(line) for line in data])


@one_and_merged
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_each_request_of_a_modern_caller_has_the_lines_that_it_asks_for(
    era: str, path: str, tool: str
) -> None:
    async with (
        served(sdk_app(_saying(), era)) as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        assert await _modern_call(h, path, tool, None) == []
        assert await _modern_call(h, path, tool, "error") == ["error"]
        assert await _modern_call(h, path, tool, "info") == ["info", "warning", "error"]
        # one session behind both: the louder one does not make the other loud
        assert await _modern_call(h, path, tool, "warning") == ["warning", "error"]


@pytest.mark.parametrize(
    ("era", "path", "tool"),
    [("modern", "/mcp/a", "say"), ("modern", "/mcp", "a__say"), ("legacy", "/mcp", "a__say")],
)
async def test_a_session_has_the_lines_that_it_asked_for_at_whichever_replica(
    era: str, path: str, tool: str
) -> None:
    async with (
        served(sdk_app(_saying(), era)) as url,
        house([{"slug": "a", "url": url}]) as h,
        twin(h) as other,
    ):
        caller = await OldCaller.begin(h, path)
        assert _levels(await caller.ask("tools/call", name=tool, arguments={})) == []
        for level, heard in (("error", ["error"]), ("debug", list(LINES)), ("critical", [])):
            caller.at = h.url
            assert (await caller.ask("logging/setLevel", level=level))[-1]["result"] == {}
            caller.at = other
            assert _levels(await caller.ask("tools/call", name=tool, arguments={})) == heard


async def test_a_level_that_is_none_is_refused_and_the_others_are_all_known() -> None:
    async with (
        served(sdk_app(_saying(), "modern")) as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        caller = await OldCaller.begin(h, "/mcp/a")
        for level in ("louder", "", None, 7, ["info"]):
            (answer,) = await caller.ask("logging/setLevel", level=level)
            assert answer["error"]["code"] == -32602
        for level in get_args(LoggingLevel):
            assert (await caller.ask("logging/setLevel", level=level))[-1]["result"] == {}


async def test_log_lines_are_announced_across_versions_where_the_server_has_them() -> None:
    for era in ("legacy", "modern"):
        async with (
            served(sdk_app(_saying(), era)) as url,
            served(sdk_app(MCPServer("silent"), era)) as silent,
            house([{"slug": "a", "url": url}, {"slug": "b", "url": silent}]) as h,
        ):
            for path, announced in (("/mcp/a", True), ("/mcp/b", False)):
                if era == "legacy":
                    _, body = await h.modern(path, "server/discover")
                    capabilities = body["result"]["capabilities"]
                else:
                    async with h.client(path, "legacy") as client:
                        capabilities = client.server_capabilities.model_dump(exclude_none=True)
                assert ("logging" in capabilities) is announced
