"""An answer of the relay in lines: what it says of a call while it runs, then the outcome."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp

from services.apphost.relay_answers import MAX_ANSWER, parse, too_large, unreadable
from shared.contracts.problems import Problem, ProblemKind

Told = Callable[[dict[str, Any]], Awaitable[None]]
"""Gets `progress`, and `total` and `message` where the server gave them."""


async def outcome(response: aiohttp.ClientResponse, told: Told) -> dict[str, Any]:
    """The last line; each line before it goes to `told`. Raises `Problem`."""
    last: dict[str, Any] | None = None
    try:
        async for line in _lines(response):
            last = await _read(parse(line), told)
    except aiohttp.ClientPayloadError as error:
        raise _broke_off() from error
    if last is None:
        raise _broke_off()
    return last


async def _lines(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    parts, size = [b""], 0
    async for chunk in response.content.iter_any():
        first, *more = chunk.split(b"\n")
        parts.append(first)
        size += len(first)
        if size > MAX_ANSWER:
            raise too_large()
        for begun in more:
            yield b"".join(parts)
            parts, size = [begun], len(begun)


async def _read(line: dict[str, Any], told: Told) -> dict[str, Any] | None:
    if "progress" not in line:
        return line
    if not isinstance(said := line["progress"], dict):
        raise unreadable()
    await told(said)
    return None


def _broke_off() -> Problem:
    advice = "What was asked may or may not have happened. Check before you try again."
    return Problem(ProblemKind.RELAY_UNAVAILABLE, "The answer broke off.", advice, "broke-off")
