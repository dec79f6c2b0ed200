"""What 2026-07-28 puts around each request, and the versions before it do not know."""

from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
)

from services.relay.messages import rpc
from services.relay.servers.progress import Progress

_MODERN_META = (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    "progressToken",
)


def without_envelope(params: rpc.Message, progress: Progress | None) -> rpc.Message:
    """The params as versions before know them, under the relay's own progress token, if any."""
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        return params
    kept = {key: value for key, value in meta.items() if key not in _MODERN_META}
    if progress is not None and progress.token is not None:
        kept["progressToken"] = progress.token
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return {**rest, "_meta": kept} if kept else rest
