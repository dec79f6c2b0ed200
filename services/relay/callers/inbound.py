"""Reading what a caller posts: strictly, because what is decided on must be what is sent on."""

import re
from typing import Any

from aiohttp import web
from mcp.shared.inbound import (
    MCP_PARAM_HEADER_PREFIX,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
)
from mcp_types import PROTOCOL_VERSION_META_KEY
from mcp_types.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from multidict import CIMultiDictProxy

from services.relay.messages import rpc
from shared.contracts.problems import Problem, ProblemKind
from shared.web import body as incoming

MAX_BODY_BYTES = 4 * 1024 * 1024
_PARAM = MCP_PARAM_HEADER_PREFIX.lower()
_ID = (str, int)  # and no bool
_MEMBERS = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_PARAMS = frozenset({"_meta", "arguments", "name", "uri"})
_LONGEST_NAME = 2048 + 64  # a server's own, and what the merged view puts before it
_HALF_OF_A_PAIR = re.compile("[\ud800-\udfff]")
_JSON = "application/json"
_BOTH = "application/json, text/event-stream"  # as the SDKs write it
_ONE = "The body must be one JSON-RPC request, notification or response"


class Rejected(Exception):
    """The message itself is refused; `outcome` holds the error that the caller hears.

    `status` is that of 2026-07-28.
    """

    def __init__(
        self, code: int, message: str, *, to: rpc.Id | None = None, data: Any = None
    ) -> None:
        super().__init__(message)
        self.id = to
        self.outcome = rpc.failure(code, message, data)
        self.status = rpc.modern_status(self.outcome)


async def body(request: web.Request) -> bytes:
    """The body, up to MAX_BODY_BYTES, declared as JSON. It can be had once."""
    if request.headers.get("Content-Type") != _JSON and request.content_type != _JSON:
        title = "Only JSON is accepted here."
        advice = "Send the message with Content-Type: application/json."
        raise Problem(ProblemKind.MEDIA_TYPE, title, advice)
    if request.content.is_eof() and request.content.exception() is None:  # all of it is here
        raw = request.content.read_nowait()
        if len(raw) > MAX_BODY_BYTES:
            raise _too_large()
        return raw
    try:
        return await incoming.read(request)
    except web.HTTPRequestEntityTooLarge as error:
        raise _too_large() from error


def read(raw: bytes) -> rpc.Message:
    """The one message in a body: JSON-RPC 2.0, no batch. Raises `Rejected`."""
    try:
        message = rpc.loads_once(raw)
    except rpc.Unreadable as error:
        raise Rejected(PARSE_ERROR, f"Parse error: {error}") from error
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Rejected(INVALID_REQUEST, f"{_ONE} (no batch)")
    request_id = message.get("id")
    is_id = type(request_id) in _ID
    if "id" in message and not is_id:
        raise Rejected(INVALID_REQUEST, "The id must be a string or an integer")
    method = message.get("method")
    if not isinstance(method, str) and not (is_id and ("result" in message or "error" in message)):
        raise Rejected(INVALID_REQUEST, _ONE, to=request_id)
    params = message.get("params", {})
    if not isinstance(params, dict):
        raise Rejected(INVALID_REQUEST, "params must be an object", to=request_id)
    _check_members(message, params, request_id)
    return message


def is_modern(request: web.Request, message: rpc.Message) -> bool:
    """Whether the message is meant as one of 2026-07-28, by its header or by its envelope."""
    version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER)
    if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return True
    meta = message.get("params", {}).get("_meta")
    return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta


def check_modern(request: web.Request, message: rpc.Message) -> None:
    """The ladder of 2026-07-28 (basic/transports, basic/versioning). Raises `Rejected`."""
    request_id, headers = message.get("id"), request.headers
    if "method" not in message:
        raise Rejected(
            INVALID_REQUEST, "In this version a client sends no responses", to=request_id
        )
    if "id" not in message:
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER, "")
        _raise(unsupported_protocol_version_rejection(version), None)
        return
    if len(headers) > len(set(headers)) and (twice := _twice(headers)) is not None:
        raise Rejected(HEADER_MISMATCH, f"{twice} header appears more than once", to=request_id)
    verdict = classify_inbound_request(message, headers=headers)
    _raise(verdict if isinstance(verdict, InboundLadderRejection) else None, request_id)


def _twice(headers: CIMultiDictProxy[str]) -> str | None:
    """A header of the protocol that comes twice: two readers could believe two different ones."""
    repeated = (n for n in headers if n.lower().startswith(_PARAM) and len(headers.getall(n)) > 1)
    return find_duplicated_routing_header(headers.items()) or next(repeated, None)


def check_name(message: rpc.Message) -> None:
    """What a request names must be text that can be sent at all, and fit into a header.

    Raises `Rejected` for anything else.
    """
    key = NAME_BEARING_METHODS.get(message["method"])
    if key is None:
        return
    name = message.get("params", {}).get(key)
    if not (isinstance(name, str) and len(name) <= _LONGEST_NAME and _sendable(name)):
        text = f"params.{key} must be text of at most {_LONGEST_NAME} characters"
        raise Rejected(INVALID_PARAMS, text, to=message.get("id"))


def repeated(request: web.Request) -> dict[str, str]:
    """Those headers that repeat a call's arguments, by their names in lower case."""
    pairs = ((name.lower(), value) for name, value in request.headers.items())
    return {name: value for name, value in pairs if name.startswith(_PARAM)}


def accepts_both(request: web.Request) -> bool:
    """Whether the caller takes JSON and event streams, as every version demands."""
    if _accept(request) == _BOTH:
        return True
    kinds = {part.split(";")[0].strip().lower() for part in _accept(request).split(",")}
    if "*/*" in kinds:
        return True
    return bool(kinds & {"application/json", "application/*"}) and bool(
        kinds & {"text/event-stream", "text/*"}
    )


def _accept(request: web.Request) -> str:
    return ",".join(request.headers.getall("Accept", []))


def _check_members(message: rpc.Message, params: rpc.Message, request_id: rpc.Id | None) -> None:
    # some readers take member names in any case: to them `Name` would replace the `name` we read
    named = _PARAMS if message.get("method") in NAME_BEARING_METHODS else frozenset()
    for given, known in ((message, _MEMBERS), (params, named)):
        if given.keys() <= known:
            continue
        for member in given:
            if member not in known and member.lower() in known:
                text = f"The member {member!r} differs from a known one only in case"
                raise Rejected(INVALID_REQUEST, text, to=request_id)


def _too_large() -> Problem:
    advice = f"At most {MAX_BODY_BYTES // 2**20} MiB are taken at once."
    return Problem(ProblemKind.TOO_LARGE, "The message is too large.", advice)


def _sendable(text: str) -> bool:
    return text.isascii() or _HALF_OF_A_PAIR.search(text) is None


def _raise(rejection: InboundLadderRejection | None, request_id: rpc.Id | None) -> None:
    if rejection is not None:
        raise Rejected(rejection.code, rejection.message, to=request_id, data=rejection.data)
