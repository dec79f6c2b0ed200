"""Connections to servers are kept, also to one that answers every request in a stream."""

from typing import Any

import pytest

from tests.relay.house import house
from tests.relay.upstreams import Asgi, sdk_app, served, toy_server

CALLS = 20


def _counted(app: Asgi, clients: set[int]) -> Asgi:
    """The same server; notes the port of each connection."""

    async def counting(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            clients.add(scope["client"][1])
        await app(scope, receive, send)

    return counting


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_calls_one_after_the_other_share_a_connection(mode: str) -> None:
    clients: set[int] = set()
    async with (
        served(_counted(sdk_app(toy_server()), clients)) as url,
        house([{"slug": "toys", "url": url}]) as h,
        h.client("/mcp/toys", mode) as client,
    ):
        await client.call_tool("echo", {"text": "first"})
        before = len(clients)
        for number in range(CALLS):
            result = await client.call_tool("echo", {"text": str(number)})
            assert not result.is_error
    # a busy machine may miss the end of a stream now and then, and open another one
    assert len(clients) - before < CALLS / 2
