"""Which pages a server has: the tools that declare one, and `ui://` resources no tool names."""

import asyncio
from dataclasses import dataclass
from typing import Any

from services.apphost.page import is_app_type
from services.apphost.relay_answers import no_such_server
from services.apphost.relay_client import RelayClient, RpcError
from shared import decide
from shared.contracts.access import ToolFacts
from shared.contracts.config import Config, Server
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import UI_SCHEME

METHOD_NOT_FOUND = -32601
_ITS_OWN_FAULT = frozenset(
    {
        ProblemKind.UPSTREAM_MALFORMED,
        ProblemKind.UPSTREAM_REFUSED,
        ProblemKind.UPSTREAM_TIMEOUT,
        ProblemKind.UPSTREAM_TOO_LARGE,
        ProblemKind.UPSTREAM_UNREACHABLE,
    }
)


@dataclass(frozen=True, slots=True)
class AppPage:
    """One page. `tool`: the declaring tool's entry of `tools/list`, None when no tool names it.

    `read_only`: the operator's word on that tool, else its own hint. `writes`: names of the tools
    that pages of this server may call and that may change something.
    """

    uri: str
    title: str
    tool: dict[str, Any] | None
    read_only: bool
    writes: tuple[str, ...]


async def find_pages(
    relay: RelayClient, config: Config, who: Principal, slug: str
) -> tuple[Server, list[AppPage]]:
    """A server and its pages, declared ones first. Raises `Problem` (404: has none, or may not).

    The relay is asked even about a slug that no server has: both kinds of "no" take the same way.
    """
    tools, resources = await asyncio.gather(
        _tools(relay, who, slug), find_resources(relay, who, slug)
    )
    server = config.server(slug)
    if server is None:
        raise no_such_server(slug)
    told, wrong = _told(tools)
    writes = tuple(
        one.name for _, one in told if one.app_visible and not decide.reads_only(server.tools, one)
    )
    pages: dict[str, AppPage] = {}
    for tool, facts in told:
        if facts.page is not None and facts.page not in pages:
            title, reads = _title(tool, facts.name), decide.reads_only(server.tools, facts)
            pages[facts.page] = AppPage(facts.page, title, tool, reads, writes)
    for item in resources:
        uri = item["uri"]
        if uri not in pages and is_app_type(item.get("mimeType")):
            pages[uri] = AppPage(uri, _title(item, uri), None, False, writes)
    if not pages:
        raise _no_page(server, len(tools), wrong)
    return server, list(pages.values())


async def _tools(relay: RelayClient, who: Principal, slug: str) -> list[dict[str, Any]]:
    try:
        return _dicts(await relay.rpc(who, slug, "tools/list", {}), "tools")
    except RpcError as error:
        if error.error.get("code") == METHOD_NOT_FOUND:
            return []
        title = "The server refused to list its tools."
        raise Problem(ProblemKind.UPSTREAM_REFUSED, title, str(error)[:200]) from error


def _no_page(server: Server, tools: int, wrong: list[str]) -> Problem:
    if wrong:
        title = "A tool of this server names a page that cannot be one."
        advice = f"`{wrong[0][:80]}` must name a {UI_SCHEME} address in _meta.ui.resourceUri."
        return Problem(ProblemKind.PAGE_INVALID, title, advice)
    many = "1 tool" if tools == 1 else f"{tools} tools"
    advice = f"Use its {many} from an MCP client." if tools else "It offers no tools either."
    return Problem(ProblemKind.NOT_FOUND, f"{server.name} ships no page.", advice, "no-page")


async def find_resources(relay: RelayClient, who: Principal, slug: str) -> list[dict[str, Any]]:
    """The `ui://` entries of a server's `resources/list`; none when it has no such list.

    A server may leave its pages out of that list, so nothing depends on it (SEP-1865).
    """
    try:
        result = await relay.rpc(who, slug, "resources/list", {})
    except RpcError:
        return []
    except Problem as problem:
        if problem.kind in _ITS_OWN_FAULT:
            return []
        raise
    found = _dicts(result, "resources")
    return [item for item in found if str(item.get("uri", "")).startswith(UI_SCHEME)]


def _told(tools: list[dict[str, Any]]) -> tuple[list[tuple[dict[str, Any], ToolFacts]], list[str]]:
    """Each tool with what it says of itself; names of those that say what cannot be."""
    told, wrong = [], []
    for tool in tools:
        try:
            told.append((tool, decide.tool_facts(tool)))
        except ValueError:
            wrong.append(str(tool.get("name", "")))
    return told, wrong


def _title(item: dict[str, Any], fallback: str) -> str:
    title = item.get("title") or item.get("name")
    return title[:120] if isinstance(title, str) and title.strip() else fallback


def _dicts(result: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = result.get(key)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
