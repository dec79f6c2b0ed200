"""Access that ends while everything runs: real processes, a real Redis with its rules, the edge."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live import LiveStack, revoke_tokens
from tests.relay.upstreams import sdk_app, served, toy_server
from tests.stack.callers import hello
from tests.stack.town import Town, listening

pytestmark = pytest.mark.stack

# until the relay sees that the file has changed and is at rest
NOTICED_SECONDS = 0.5


async def _seconds_until_it_ends(
    stack: LiveStack, token: str, happens: Callable[[], object]
) -> float:
    """How long two streams stay open after something has happened."""
    one, all_of_them = f"{stack.url}/mcp/toys", f"{stack.url}/mcp"
    async with listening(one, token) as first, listening(all_of_them, token) as second:
        await asyncio.sleep(0.2)
        await asyncio.to_thread(happens)
        started = time.monotonic()
        async with asyncio.timeout(10):
            await asyncio.gather(first.read(), second.read())
        return time.monotonic() - started


async def test_access_that_is_taken_away_ends_streams_and_gives_nothing_more(
    tmp_path: Path,
) -> None:
    async with served(sdk_app(toy_server())) as url:
        town = Town(tmp_path / "strad.yaml", url)
        async with town.running() as stack:

            async def status(token: str) -> int:
                return (await asyncio.to_thread(hello, f"{stack.url}/mcp/toys", token)).status

            ada = await asyncio.to_thread(stack.token, "ada")
            charles = await asyncio.to_thread(stack.token, "charles")
            assert [await status(ada), await status(charles)] == [200, 404]
            seconds = await _seconds_until_it_ends(
                stack, ada, lambda: town.makers("charles@strad.test")
            )
            assert seconds < NOTICED_SECONDS + 1
            assert [await status(ada), await status(charles)] == [404, 200]
            assert "config-applied" in stack.log("relay")

            visitor = await asyncio.to_thread(stack.visitor, "charles")
            seconds = await _seconds_until_it_ends(stack, charles, lambda: revoke_tokens(visitor))
            assert seconds < 1
            assert await status(charles) == 401
