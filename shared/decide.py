"""The decisions, pure: who may see a server, which tool exists, which call runs, and why not.

Denied looks exactly like unknown to a caller; the reason is for logs and metrics.
"""

from collections.abc import Mapping
from typing import Any

from shared.contracts.access import ALLOWED, Call, Decision, Denied, Grant, Reason, ToolFacts
from shared.contracts.config import Server
from shared.contracts.identity import Principal, SessionKind
from shared.contracts.tools import ToolsPolicy
from shared.contracts.wire import UI_SCHEME, Surface


def may_use(principal: Principal, grant: Grant, server: Server | None) -> Decision:
    """Whether this caller may use this server at all."""
    if server is None:
        return Denied(Reason.UNKNOWN_SERVER)
    if grant.subject != principal.subject or server.slug not in grant.servers:
        return Denied(Reason.NOT_ENTITLED)
    if principal.servers is not None and server.slug not in principal.servers:
        return Denied(Reason.TOKEN_SCOPE)
    return ALLOWED


def tool_exists(policy: ToolsPolicy, tool: str) -> Decision:
    """Whether the operator's `tools:` policy lets a tool exist, for lists and for calls."""
    if policy.permits(tool):
        return ALLOWED
    listed = policy.allow is not None and not ToolsPolicy(allow=policy.allow).permits(tool)
    return Denied(Reason.TOOL_NOT_ALLOWED if listed else Reason.TOOL_DENIED)


def may_call(principal: Principal, grant: Grant, server: Server | None, call: Call) -> Decision:
    """Whether one tool call runs. Everything but `CLIENT` needs the tool's facts, and so does
    a caller who may only read.

    A page may call what is visible to it. The host's own opening call is for a declaring tool that
    only reads; the Run button is for a declaring tool, whatever it does, by the person's press.
    """
    entry = may_use(principal, grant, server)
    if isinstance(entry, Denied) or server is None:
        return entry
    exists = tool_exists(server.tools, call.tool)
    if isinstance(exists, Denied):
        return exists
    if principal.session_kind is SessionKind.TOKEN:
        return Denied(Reason.LOOK_ONLY_SESSION)
    if principal.read_only and (call.facts is None or not reads_only(server.tools, call.facts)):
        return Denied(Reason.READ_ONLY_TOKEN)
    return _may_on_surface(server.tools, call)


def _may_on_surface(policy: ToolsPolicy, call: Call) -> Decision:
    if call.surface is Surface.CLIENT:
        return ALLOWED
    facts = call.facts
    if facts is None:
        return Denied(Reason.UNKNOWN_TOOL)
    if call.surface in {Surface.OPEN, Surface.RUN}:
        if facts.page is None:
            return Denied(Reason.NOT_DECLARING)
        if call.surface is Surface.OPEN and not reads_only(policy, facts):
            return Denied(Reason.NOT_READ_ONLY)
        return ALLOWED
    if call.surface is Surface.APP and not facts.app_visible:
        return Denied(Reason.NOT_VISIBLE_TO_APPS)
    return ALLOWED


def reads_only(policy: ToolsPolicy, facts: ToolFacts) -> bool:
    """The operator's `read_only`, else the server's own hint, which is a claim."""
    rule = policy.each.get(facts.name)
    if rule is not None and rule.read_only is not None:
        return rule.read_only
    return facts.read_only


def tool_facts(tool: Mapping[str, Any]) -> ToolFacts:
    """The facts of one entry of a server's `tools/list` (SEP-1865, "Tool metadata").

    Anything of an unexpected shape counts as the stricter choice. Raises `ValueError` for a
    `resourceUri` that is not a `ui://` address: that is the server's mistake, not "no page".
    """
    meta = _mapping(tool.get("_meta"))
    ui = _mapping(meta.get("ui"))
    page = ui.get("resourceUri", meta.get("ui/resourceUri"))
    if page is not None and not (isinstance(page, str) and page.startswith(UI_SCHEME)):
        raise ValueError(f"the tool names a page that is not a {UI_SCHEME} address")
    visibility = ui.get("visibility", ["model", "app"])
    annotations = _mapping(tool.get("annotations"))
    return ToolFacts(
        name=str(tool.get("name", "")),
        app_visible=isinstance(visibility, list) and "app" in visibility,
        page=page,
        read_only=annotations.get("readOnlyHint") is True,
    )


def for_pages_only(tool: Mapping[str, Any]) -> bool:
    """Whether a tool is not for models: its `visibility` is a list without "model" (SEP-1865)."""
    visibility = _mapping(_mapping(tool.get("_meta")).get("ui")).get("visibility")
    return isinstance(visibility, list) and "model" not in visibility


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
