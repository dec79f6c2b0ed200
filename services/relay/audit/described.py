"""What the audit trail keeps of a message."""

from typing import Any

from mcp_types import CLIENT_INFO_META_KEY

from services.relay.audit.arguments import Fingerprint, redacted
from services.relay.messages import rpc
from shared.contracts.audit import Entry, Logged
from shared.stores.audit import Trail

LONGEST = 128
_LARGE = 16 * 1024


def describe(entry: Entry, message: rpc.Message, trail: Trail, size: int | None) -> None:
    """Note what is asked, by which program, and with which arguments: as `trail` may know them.

    `size`: of the request, in bytes, if it is known.
    """
    method, params = message.get("method"), message.get("params", {})
    if isinstance(method, str):
        entry.kept["method"] = method[:LONGEST]
    meta = params.get("_meta")
    if isinstance(meta, dict):
        introduce(entry.logged, meta.get(CLIENT_INFO_META_KEY))
    introduce(entry.logged, params.get("clientInfo"))
    given = params.get("arguments") if method == "tools/call" else _rest(params)
    if given:
        entry.logged["arguments"] = fingerprint = Fingerprint(given, trail.digest)
        if size is None or size > _LARGE:
            str(fingerprint)  # many of these together would hold up everybody else
        if trail.rules.arguments:
            entry.kept["given"] = redacted(given)


def introduce(logged: Logged, info: Any) -> None:
    """Note which program asks. `info`: a `clientInfo`, as far as anybody knows."""
    if isinstance(info, dict) and isinstance(info.get("name"), str):
        version = info.get("version")
        text = f"{info['name']} {version}" if isinstance(version, str) else info["name"]
        logged["client"] = text[:LONGEST]


def _rest(params: rpc.Message) -> rpc.Message:
    return {name: value for name, value in params.items() if name not in {"_meta", "clientInfo"}}
