"""The events of a server's stream, for as long as the caller may have them."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import aiohttp

from services.relay.streams import EventTooLarge, Splitter
from services.relay.upstream import MAX_ANSWER_BYTES, told, too_large
from shared.contracts.config import Server
from shared.contracts.problems import Problem, ProblemKind

RECHECK_SECONDS = 15.0
Alive = Callable[[], Awaitable[bool]]
"""Whether the caller's token and entitlement still hold; asked while a stream is open."""


async def events_of(
    server: Server, response: aiohttp.ClientResponse, alive: Alive
) -> AsyncGenerator[list[bytes]]:
    """The events that came at once, together: a piece of the network can hold twenty thousand.

    Raises a `Problem` when the stream breaks off, or when the caller's access has ended."""
    splitter = Splitter(MAX_ANSWER_BYTES)
    clock = asyncio.get_running_loop().time
    check_at = clock() + RECHECK_SECONDS
    while not response.content.at_eof():
        if clock() >= check_at:
            if not await alive():
                title = f"Your access to {server.name} has ended."
                raise Problem(ProblemKind.FORBIDDEN, title)
            check_at = clock() + RECHECK_SECONDS
        try:
            async with asyncio.timeout_at(check_at):
                with told(server):
                    chunk = await response.content.readany()
        except TimeoutError:
            continue
        try:
            if events := splitter.feed(chunk):
                yield events
        except EventTooLarge as error:
            raise too_large(server) from error
    if rest := splitter.rest():
        yield [rest]
