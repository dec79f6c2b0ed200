"""Log lines that a server sends beside its answer, for callers that asked for some.

2026-07-28 asks with each request (`logLevel` in its `_meta`), the versions before it once for a
session (`logging/setLevel`).
"""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_types import LOG_LEVEL_META_KEY

from services.relay.messages import rpc

METHOD = "notifications/message"
SET_LEVEL = "logging/setLevel"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Logs:
    """For one request. `level`: the least important lines that its caller wants."""

    def __init__(self, level: str, tell: Callable[[rpc.Message], Awaitable[None]]) -> None:
        self.level = level
        self._tell = tell

    async def heard(self, message: rpc.Message) -> None:
        """Pass a line on as it is, if it is one and important enough."""
        params = message.get("params")
        if message.get("method") != METHOD or "id" in message or not isinstance(params, dict):
            return
        if params.get("level") in LEVELS and includes(self.level, params["level"]):
            await self._tell({"jsonrpc": "2.0", "method": METHOD, "params": params})


def includes(level: str, other: str) -> bool:
    """Whether who asks for `level` also hears lines of the other one (RFC 5424 severities)."""
    return LEVELS.index(level) <= LEVELS.index(other)


def of_params(params: rpc.Message) -> str | None:
    """The level in the params of `logging/setLevel`."""
    return _known(params.get("level"))


def of_request(params: rpc.Message) -> str | None:
    """The level that a request of 2026-07-28 asks for."""
    meta = params.get("_meta")
    return _known(meta.get(LOG_LEVEL_META_KEY)) if isinstance(meta, dict) else None


def _known(level: Any) -> str | None:
    return level if isinstance(level, str) and level in LEVELS else None
