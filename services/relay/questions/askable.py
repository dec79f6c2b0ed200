"""What a caller of 2025-11-25 and before can be asked, between its words and those of 2026-07-28.

A server hears only of what the caller has declared and what its version knows; and it asks only
that, whatever it was told.
"""

from typing import Any

from services.relay.messages import rpc
from services.relay.servers.hello import Hello
from shared import ids

ELICIT = "elicitation/create"
_CAPABILITY = {ELICIT: "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
_ELICITATION_SINCE = "2025-06-18"
_MODES_SINCE = "2025-11-25"  # and tools in sampling


def told(hello: Hello, version: str) -> Hello:
    """The caller with its answers, as a server of 2026-07-28 may hear of it."""
    given = hello.capabilities
    can = dict(hello.without_answers().capabilities)
    modes = _modes(given.get("elicitation"), version)
    if modes:
        can["elicitation"] = modes
    if isinstance(given.get("sampling"), dict):
        can["sampling"] = given["sampling"] if version >= _MODES_SINCE else {}
    if isinstance(given.get("roots"), dict):
        can["roots"] = {}
    return Hello(can, hello.client_info)


def question(hello: Hello, version: str, request: Any) -> rpc.Message | None:
    """A server's question as a request in the caller's version; None if it cannot be asked.

    `hello`: what the server was told of the caller.
    """
    if not isinstance(request, dict):
        return None
    method, params = request.get("method"), request.get("params", {})
    capability = _CAPABILITY.get(method) if isinstance(method, str) else None
    can = hello.capabilities.get(capability) if capability is not None else None
    if can is None or not isinstance(params, dict):
        return None
    if method == ELICIT:
        params = _elicitation(can, version, params)
    elif capability == "sampling" and "tools" in params and "tools" not in can:
        return None
    return None if params is None else {"method": method, "params": params}


def _modes(given: Any, version: str) -> rpc.Message:
    if not isinstance(given, dict) or version < _ELICITATION_SINCE:
        return {}
    modes: rpc.Message = {}
    if "form" in given or "url" not in given or version < _MODES_SINCE:
        modes["form"] = {}  # an empty capability means forms
    if "url" in given and version >= _MODES_SINCE:
        modes["url"] = {}
    return modes


def _elicitation(can: rpc.Message, version: str, params: rpc.Message) -> rpc.Message | None:
    mode = params.get("mode", "form")
    if mode not in ("form", "url") or mode not in can:
        return None
    if version < _MODES_SINCE:
        return {key: value for key, value in params.items() if key != "mode"}
    if mode == "url":
        return {"elicitationId": ids.new_id(), **params}  # the version before wants one
    return params
