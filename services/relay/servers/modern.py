"""Speaking 2026-07-28 to a server: one request, one answer, no session."""

from typing import Any

from mcp.shared.inbound import NAME_BEARING_METHODS, encode_header_value
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    LOG_LEVEL_META_KEY,
    PROTOCOL_VERSION_META_KEY,
)
from mcp_types.jsonrpc import INVALID_REQUEST
from mcp_types.version import LATEST_MODERN_VERSION

from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers.answers import read_answer
from services.relay.servers.hello import Hello
from services.relay.servers.progress import Progress
from services.relay.servers.upstream import Upstream

ID = 1  # each request has its own response: nothing is told apart by it


class NotModern(Exception):
    """The server does not understand the request at all: it speaks an older version now."""

    def __init__(self, answer: rpc.Message) -> None:
        super().__init__(str(answer.get("error")))
        self.answer = answer


async def ask(
    upstream: Upstream,
    way: Way,
    hello: Hello,
    method: str,
    params: rpc.Message,
    headers: dict[str, str] | None = None,
    progress: Progress | None = None,
) -> rpc.Message:
    """Ask one server; the answer holds `result` or `error`. Raises `NotModern` or a `Problem`."""
    sent, body = message(hello, method, params, progress)
    sent |= headers or {}
    heard = progress.heard if progress is not None else None
    async with upstream.open(way, "POST", sent, body) as response:
        answer = await read_answer(way.server, response, ID, heard)
    if not_modern(response.status, answer, ID):
        raise NotModern(answer)
    return answer


def message(
    hello: Hello, method: str, params: rpc.Message, progress: Progress | None = None
) -> tuple[dict[str, str], bytes]:
    """The headers and the body of a request."""
    headers = {"MCP-Protocol-Version": LATEST_MODERN_VERSION, "Mcp-Method": method}
    name = params.get(NAME_BEARING_METHODS.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = encode_header_value(name)
    meta = _meta(hello, params, progress)
    return headers, rpc.dumps(rpc.request(ID, method, {**params, "_meta": meta}))


def not_modern(status: int, answer: rpc.Message, request_id: rpc.Id) -> bool:
    """Whether an answer is how an older server refuses a request outside of any session."""
    if status < 400 or answer.get("id") == request_id:
        return False
    return rpc.code_of(answer) == INVALID_REQUEST


def _meta(hello: Hello, params: rpc.Message, progress: Progress | None) -> dict[str, Any]:
    given = params.get("_meta")
    meta = dict(given) if isinstance(given, dict) else {}
    meta.pop("progressToken", None)  # the caller's own name for it: not the server's business
    if progress is not None and progress.token is not None:
        meta["progressToken"] = progress.token
    meta.pop(LOG_LEVEL_META_KEY, None)
    if progress is not None and progress.logs is not None:
        meta[LOG_LEVEL_META_KEY] = progress.logs.level
    meta[PROTOCOL_VERSION_META_KEY] = LATEST_MODERN_VERSION
    meta[CLIENT_CAPABILITIES_META_KEY] = hello.capabilities
    meta[CLIENT_INFO_META_KEY] = hello.name
    return meta
