"""An answer that is not a stream, on its way through."""

from collections.abc import Mapping

import aiohttp
from aiohttp import web

from services.relay.audit.trail import heard
from services.relay.messages import rpc
from services.relay.questions.amend import Amend
from services.relay.servers.bodies import read_message, whole
from services.relay.servers.failures import malformed, refused
from services.relay.servers.legacy import SessionLost
from services.relay.servers.lost import SESSION_HEADER, lost
from services.relay.servers.modern import NotModern, not_modern
from shared.contracts.config import Server


async def single(
    server: Server,
    response: aiohttp.ClientResponse,
    kind: str,
    request_id: rpc.Id,
    headers: Mapping[str, str],
    amend: Amend,
) -> web.Response:
    """The response; `kind`: its media type. Raises `SessionLost`, `NotModern` or a `Problem`."""
    if kind != "application/json":
        if response.status >= 400:
            raise refused(server, f"it answered HTTP {response.status}")
        raise malformed(server, f"its answer is {kind}, not JSON")
    raw = await whole(server, response)
    message = read_message(server, raw)
    if SESSION_HEADER in headers and lost(response.status, message, request_id):
        raise SessionLost
    if "MCP-Method" in headers and not_modern(response.status, message, request_id):
        raise NotModern(message)
    refusal = response.status >= 400 and isinstance(message.get("error"), dict)
    if not refusal and not answers(message, request_id):
        raise malformed(server, "its answer does not answer the request")
    heard(message)
    return rpc.response(amend.answer(message, raw), response.status)


def answers(message: rpc.Message, request_id: rpc.Id | None) -> bool:
    """Whether a message is the answer to a request."""
    return (
        "method" not in message
        and message.get("id") == request_id
        and ("result" in message or "error" in message)
    )
