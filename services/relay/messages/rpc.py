"""JSON-RPC messages as plain dicts: reading them strictly, making them, answering with them.

Other people's messages are never put into models: a model drops what it does not know.
"""

import hashlib
from typing import Any

from aiohttp import web
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp_types.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS

from services.relay.messages import weigh
from shared import numbers
from shared.contracts.problems import Problem, ProblemKind

Message = dict[str, Any]
Id = str | int


_JSON = {"Content-Type": "application/json"}


class Unreadable(ValueError):
    """Bytes that are not one JSON value, or a value that two readers could read differently."""


class TooHeavy(Unreadable):
    """JSON that would take too much memory."""

    def __init__(self) -> None:
        super().__init__(f"it has more than {weigh.MAX_PARTS} parts")


def loads(raw: bytes) -> Any:
    """A JSON value (RFC 8259, UTF-8). Raises `Unreadable`, also for absurd nesting and weight."""
    return _read(raw, _ANY)


def loads_once(raw: bytes) -> Any:
    """Like `loads`, and no object may name a member twice.

    The relay decides on what it reads and forwards the bytes: with a repeated name the server could
    read another message than the one that was decided on.
    """
    return _read(raw, _ONCE)


def _read(raw: bytes, reader: numbers.Reader) -> Any:
    if weigh.is_too_heavy(raw):
        raise TooHeavy
    try:
        return reader.read(raw.decode())
    except (ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from error


def dumps(value: Any) -> bytes:
    """The compact form. Raises a `Problem` for a value nested too deep to write."""
    try:
        try:
            return numbers.dumps(value, ascii_only=False).encode()
        except UnicodeEncodeError:
            return numbers.dumps(value, ascii_only=True).encode()
    except RecursionError as error:
        raise too_deep() from error


def digest(value: Any) -> str:
    """SHA-256 of a value, whatever the order of its members. Raises a `Problem` as `dumps`."""
    try:
        text = numbers.dumps(value, ascii_only=True, in_order=True)
    except RecursionError as error:
        raise too_deep() from error
    return hashlib.sha256(text.encode()).hexdigest()


def request(request_id: Id, method: str, params: Message) -> Message:
    """A request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def failure(code: int, message: str, data: Any = None) -> Message:
    """The `error` member of an answer, in an answer without an id yet."""
    error: Message = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"error": error}


def unknown_tool(name: str) -> Message:
    """What a caller hears of a tool that does not exist, for whatever reason it does not."""
    return failure(INVALID_PARAMS, f"Unknown tool: {name}")


def problem(cause: Problem, request_id: str) -> Message:
    """A problem of ours or of a server as the error of one request. `request_id`: for the log."""
    text = f"{cause.title} {cause.advice}".strip()
    return failure(INTERNAL_ERROR, text, {"kind": cause.kind, "request_id": request_id})


def answer(request_id: Id | None, outcome: Message, status: int = 200) -> web.Response:
    """An HTTP response with one JSON-RPC answer; `outcome` holds `result` or `error`."""
    return response(dumps({"jsonrpc": "2.0", "id": request_id, **outcome}), status)


def response(raw: bytes, status: int = 200) -> web.Response:
    """An HTTP response with one message."""
    return web.Response(body=raw, status=status, headers=_JSON)


def code_of(message: Message) -> int | None:
    """The code of an error; None of what has none, also where a server wrote something else."""
    error = message.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def modern_status(outcome: Message) -> int:
    """The HTTP status that 2026-07-28 gives an answer (the SDK's table, else 200)."""
    code = code_of(outcome)
    return 200 if code is None else ERROR_CODE_HTTP_STATUS.get(code, 200)


def too_deep() -> Problem:
    """What nesting beyond our own reach is."""
    title = "The message is nested too deep to be passed on."
    return Problem(ProblemKind.UPSTREAM_MALFORMED, title)


def _unique(pairs: list[tuple[str, Any]]) -> Message:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object names a member twice")
    return found


_ANY, _ONCE = numbers.Reader(), numbers.Reader(_unique)
