"""Which tools a list holds: one that a caller may not call is not listed for it either.

The operator's `tools:` policy takes tools away from everybody. Tools for pages only are no business
of callers that show no pages.
"""

from typing import Any

from mcp.shared.inbound import find_invalid_x_mcp_header

from services.relay.messages import rpc
from services.relay.servers.hello import Hello
from shared import log
from shared.contracts.config import Server
from shared.decide import for_pages_only, tool_exists

PAGES_ONLY_SIGN = b'"visibility"'
"""Without these bytes no list says of a tool that it is for pages only."""


def restricts(server: Server) -> bool:
    """Whether the policy can remove anything; if not, listings stay as they are, to the byte."""
    return server.tools.allow is not None or bool(server.tools.deny)


def keep(server: Server, tools: list[Any]) -> list[Any]:
    """Those entries of a `tools/list` that exist for people."""
    return [tool for tool in tools if _permitted(server, tool)]


def shown(hello: Hello, tools: list[Any]) -> list[Any]:
    """Those entries of a `tools/list` that this caller may see: without those for pages only,
    unless it shows pages itself."""
    if hello.speaks_apps:
        return tools
    return [tool for tool in tools if not (isinstance(tool, dict) and for_pages_only(tool))]


def filtered(server: Server, hello: Hello, message: rpc.Message) -> bool:
    """Take tools out of any message that lists some, in place; whether anything was taken.

    It looks at the content and not at the request: a listing can come back in another stream than
    the one it was asked in.
    """
    result = message.get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(tools, list):
        return False
    kept = shown(hello, keep(server, tools) if restricts(server) else tools)
    if len(kept) == len(tools):
        return False
    result["tools"] = kept
    if "cacheScope" in result:
        result["cacheScope"] = "private"  # another caller sees another list
    return True


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
