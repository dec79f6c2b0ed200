"""What a server answers: its bytes within bounds, and the message in them."""

from typing import Any

import aiohttp

from services.relay.messages import rpc, weigh
from services.relay.servers.failures import MAX_ANSWER_BYTES, malformed, told, too_large
from shared.contracts.config import Server


async def whole(server: Server, response: aiohttp.ClientResponse) -> bytes:
    """The body, up to MAX_ANSWER_BYTES."""
    content = response.content
    with told(server):
        if content.is_eof():  # all of it is here: nothing to wait for
            found = content.read_nowait()
        elif (response.content_length or 0) > MAX_ANSWER_BYTES:
            raise too_large(server)
        else:
            found = await _until_too_large(content)
    if len(found) > MAX_ANSWER_BYTES:
        raise too_large(server)
    return found


async def _until_too_large(content: aiohttp.StreamReader) -> bytes:
    size, parts = 0, list[bytes]()
    async for part in content.iter_any():
        size += len(part)
        parts.append(part)
        if size > MAX_ANSWER_BYTES:
            break
    return b"".join(parts)


def read_message(server: Server, raw: bytes) -> rpc.Message:
    """One JSON-RPC message of a server; only the frame is looked at."""
    try:
        message: Any = rpc.loads(raw)
    except rpc.TooHeavy as error:
        raise too_large(server, f"{weigh.MAX_PARTS} values") from error
    except rpc.Unreadable as error:
        raise malformed(server, "its answer is not JSON") from error
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise malformed(server, "its answer is not a JSON-RPC message")
    return message
