"""What the host says of itself in `ui/initialize` (SEP-1865, "Host Context"): the part that does
not depend on the browser, which adds the rest (`web/context.js`).

Only keys and values that the official SDK accepts: one wrong value and the page never starts.
"""

from typing import Any

from services.apphost import styles

VERSION = "0.1.0"
PROTOCOL = "2026-01-26"
_OURS = ("x-strad/key", "x-strad/search", "x-strad/hash")
"""Notifications of our own, beyond the specification (docs/apps.md)."""


def introduction(tool: dict[str, Any] | None, *, look_only: bool) -> dict[str, Any]:
    """`McpUiInitializeResult`. `tool`: the one that opens the page, as `shown` gives it."""
    granted: dict[str, Any] = {
        "openLinks": {},
        "downloadFile": {},
        "logging": {},
        "serverResources": {},
        "experimental": {name: {} for name in _OURS},
    }
    if not look_only:
        granted["serverTools"] = {}
    context: dict[str, Any] = {"styles": {"variables": styles.variables()}, "platform": "web"}
    if tool is not None:
        context["toolInfo"] = {"tool": tool}
    return {
        "protocolVersion": PROTOCOL,
        "hostInfo": {"name": "strad", "version": VERSION},
        "hostCapabilities": granted,
        "hostContext": context,
    }


def shown(tool: dict[str, Any]) -> dict[str, Any]:
    """The parts of a tool that a page may be told, in shapes that its SDK accepts."""
    schema = tool.get("inputSchema")
    is_object = isinstance(schema, dict) and schema.get("type") == "object"
    found = {"name": str(tool["name"]), "inputSchema": schema if is_object else {"type": "object"}}
    for key in ("title", "description"):
        if isinstance(tool.get(key), str):
            found[key] = tool[key]
    return found
