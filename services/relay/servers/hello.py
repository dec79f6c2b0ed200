"""What a caller says of itself: its capabilities and its name, per request or per session."""

import hashlib
from functools import cached_property
from typing import Any

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY

from services.relay.messages import rpc
from shared.contracts.wire import APP_MIME_TYPE, UI_EXTENSION

# a server may use these only by asking the caller something, which is not carried across versions
_NEEDS_ANSWERS = frozenset({"elicitation", "roots", "sampling", "tasks"})
_OURS = {"name": "strad", "version": "1"}


class Hello:
    """The capabilities are the caller's own, extensions included: a server may offer by them."""

    def __init__(
        self, capabilities: dict[str, Any], client_info: dict[str, Any] | None = None
    ) -> None:
        self.capabilities = capabilities
        self.client_info = client_info

    @cached_property
    def digest(self) -> str:
        """Callers with one digest may share what a server has said to one of them."""
        return hashlib.sha256(rpc.dumps(self.capabilities)).hexdigest()

    @cached_property
    def speaks_apps(self) -> bool:
        """Whether the caller shows MCP Apps, and so sees to it what models may call (SEP-1865)."""
        extensions = self.capabilities.get("extensions")
        settings = extensions.get(UI_EXTENSION) if isinstance(extensions, dict) else None
        kinds = settings.get("mimeTypes") if isinstance(settings, dict) else None
        return isinstance(kinds, list) and APP_MIME_TYPE in kinds

    @property
    def name(self) -> dict[str, Any]:
        """The caller's `clientInfo`, or strad's."""
        return self.client_info or _OURS

    def without_answers(self) -> "Hello":
        """The same caller, for a server of the other version."""
        kept = {k: v for k, v in self.capabilities.items() if k not in _NEEDS_ANSWERS}
        return Hello(kept, self.client_info)


_APPS = {"extensions": {UI_EXTENSION: {"mimeTypes": [APP_MIME_TYPE]}}}

CONSOLE = Hello(_APPS)
"""The console, as it lists and reads: it shows MCP Apps."""

CONSOLE_CALLING = Hello({"elicitation": {"form": {}, "url": {}}, **_APPS})
"""The console with a person in front of it, who can be asked while a tool runs."""


def of_request(meta: dict[str, Any]) -> Hello:
    """From the `_meta` of a request of 2026-07-28."""
    return _hello(meta.get(CLIENT_CAPABILITIES_META_KEY), meta.get(CLIENT_INFO_META_KEY))


def of_handshake(params: dict[str, Any]) -> Hello:
    """From the params of `initialize`."""
    return _hello(params.get("capabilities"), params.get("clientInfo"))


def _hello(capabilities: Any, info: Any) -> Hello:
    return Hello(
        capabilities if isinstance(capabilities, dict) else {},
        info if isinstance(info, dict) else None,
    )
