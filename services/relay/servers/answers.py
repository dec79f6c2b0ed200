"""The answer to one request of the relay's own, whether it comes as JSON or in a stream."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import aiohttp

from services.relay.messages import rpc
from services.relay.messages.streams import EventTooLarge, Splitter, data_of
from services.relay.servers.bodies import read_message, whole
from services.relay.servers.failures import (
    MAX_ANSWER_BYTES,
    broke_off,
    malformed,
    refused,
    told,
    too_large,
)
from shared.contracts.config import Server

_END_SECONDS = 0.05

OnMessage = Callable[[rpc.Message], Awaitable[None]]


async def read_answer(
    server: Server,
    response: aiohttp.ClientResponse,
    request_id: rpc.Id,
    on_message: OnMessage | None = None,
) -> rpc.Message:
    """The message that answers `request_id`: it holds `result` or `error`.

    `on_message` gets each request and notification that the server sends meanwhile.
    """
    kind = response.content_type
    if kind == "application/json":
        message = read_message(server, await whole(server, response))
        if response.status < 400 and message.get("id") != request_id:
            raise malformed(server, "its answer does not answer the request")
        return _checked(server, message, response)
    if kind == "text/event-stream" and response.status == 200:
        return await _from_stream(server, response, request_id, on_message)
    if response.status >= 400:
        raise refused(server, f"it answered HTTP {response.status}")
    raise malformed(server, f"its answer is {kind}, neither JSON nor an event stream")


async def _from_stream(
    server: Server,
    response: aiohttp.ClientResponse,
    request_id: rpc.Id,
    on_message: OnMessage | None,
) -> rpc.Message:
    splitter = Splitter(MAX_ANSWER_BYTES)
    with told(server):
        async for chunk in response.content.iter_any():
            try:
                events = splitter.feed(chunk)
            except EventTooLarge as error:
                raise too_large(server) from error
            for data in filter(None, map(data_of, events)):
                message = read_message(server, data)
                if "method" not in message:
                    if message.get("id") == request_id:
                        await let_end(response)
                        return _checked(server, message, response)
                elif on_message is not None:
                    await on_message(message)
    raise broke_off(server)


async def let_end(response: aiohttp.ClientResponse) -> None:
    """Wait a moment for the end that follows the answer: then the connection can be used again."""
    with contextlib.suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(_END_SECONDS):
            await response.content.readany()


def _checked(server: Server, message: rpc.Message, response: aiohttp.ClientResponse) -> rpc.Message:
    if isinstance(message.get("error"), dict):
        return message
    if response.status < 400 and isinstance(message.get("result"), dict):
        return message
    raise malformed(server, "its answer has neither a result nor an error")
