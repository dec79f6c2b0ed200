"""The operator's `tools:` policy on lists: a tool that may not be called is not listed either."""

from typing import Any

from mcp.shared.inbound import find_invalid_x_mcp_header

from services.relay import rpc
from shared import log
from shared.contracts.config import Server
from shared.decide import tool_exists


def restricts(server: Server) -> bool:
    """Whether the policy can remove anything; if not, listings stay as they are, to the byte."""
    return server.tools.allow is not None or bool(server.tools.deny)


def keep(server: Server, tools: list[Any]) -> list[Any]:
    """Those entries of a `tools/list` that exist for people."""
    return [tool for tool in tools if _permitted(server, tool)]


def filtered(server: Server, message: rpc.Message) -> bool:
    """Take tools out of any message that lists some, in place; whether anything was taken.

    It looks at the content and not at the request: a listing can come back in another stream than
    the one it was asked in.
    """
    result = message.get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(tools, list):
        return False
    kept = keep(server, tools)
    result["tools"] = kept
    return len(kept) != len(tools)


def callable_over_http(server: Server, tools: list[Any]) -> list[Any]:
    """Without the tools whose `x-mcp-header` marks are invalid (transports, "Custom headers").

    A client must not call those: it could not send what the server expects.
    """
    kept, faulty = [], []
    for tool in tools:
        fault = find_invalid_x_mcp_header(tool.get("inputSchema"))
        if fault is None:
            kept.append(tool)
        else:
            faulty.append((tool["name"], fault))
    warn_of("tools-left-out", server, faulty)
    return kept


def warn_of(event: str, server: Server, faulty: list[tuple[str, str]]) -> None:
    """Log tools with their faults, in one short line: the server says how many, and how long."""
    if faulty:
        tool, fault = faulty[0]
        count = len(faulty)
        log.warning(event, slug=server.slug, count=count, first=tool[:128], fault=fault[:200])


def _permitted(server: Server, tool: Any) -> bool:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return False
    return tool_exists(server.tools, tool["name"]).ok
