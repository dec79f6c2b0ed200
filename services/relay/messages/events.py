"""The events of a server's stream."""

import asyncio
from collections.abc import AsyncGenerator

import aiohttp

from services.relay.messages.streams import EventTooLarge, Splitter
from services.relay.servers.failures import MAX_ANSWER_BYTES, told, too_large
from shared.contracts.config import Server

SILENT_SECONDS = 15.0
PIECE_BYTES = 16 * 1024


async def events_of(
    server: Server, response: aiohttp.ClientResponse
) -> AsyncGenerator[list[bytes]]:
    """The events that came at once, together: a piece of the network can hold twenty thousand.

    None of them after SILENT_SECONDS in which nothing came. Raises a `Problem` when the stream
    breaks off.
    """
    splitter = Splitter(MAX_ANSWER_BYTES)
    while not response.content.at_eof():
        try:
            async with asyncio.timeout(SILENT_SECONDS):
                with told(server):
                    chunk = await response.content.read(PIECE_BYTES)
        except TimeoutError:
            yield []
            continue
        try:
            if events := splitter.feed(chunk):
                yield events
                await asyncio.sleep(0)  # where more is there already, nothing else would wait
        except EventTooLarge as error:
            raise too_large(server) from error
    if rest := splitter.rest():
        yield [rest]
