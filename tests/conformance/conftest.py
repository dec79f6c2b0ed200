"""One example server, and one relay in front of it: as it is, and as servers of one era."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest

from demo.run.ports import LOOPBACK, free_ports
from tests.conformance import suite
from tests.conformance.example_server import example_server
from tests.conformance.front import front, only_legacy, only_modern, with_token
from tests.conftest import need
from tests.peers.lone_relay import LoneRelay, lone_relay

GUARDS = {"modern": only_modern, "legacy": only_legacy}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the SDK's example server."""
    need(suite.is_installed(), "Node 22 and the conformance package: `npm ci`")
    with example_server(tmp_path_factory.mktemp("everything") / "everything.log") as url:
        yield url


@pytest.fixture(scope="module")
def guards() -> dict[str, int]:
    """The ports at which the example server seems to speak one era only."""
    return dict(zip(GUARDS, free_ports(len(GUARDS)), strict=True))


@pytest.fixture(scope="module")
def relay(
    everything: str, guards: dict[str, int], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LoneRelay]:
    """A relay in front of all three. At its public address listens whoever plays the edge."""
    (port,) = free_ports(1)
    servers = {era: f"http://{LOOPBACK}:{guard}/mcp" for era, guard in guards.items()}
    servers["every"] = everything
    folder = tmp_path_factory.mktemp("relay")
    with lone_relay(folder, f"http://{LOOPBACK}:{port}", servers) as running:
        yield running


@pytest.fixture
async def relayed(relay: LoneRelay, everything: str, guards: dict[str, int]) -> AsyncIterator[str]:
    """The address of the servers behind the relay, for a client that sends no token."""
    origin = everything.removesuffix("/mcp")
    edge = urlsplit(relay.public_url).port
    assert edge is not None
    async with AsyncExitStack() as stack:
        for era, guard in guards.items():
            await stack.enter_async_context(front(guard, origin, GUARDS[era]))
        await stack.enter_async_context(front(edge, relay.url, with_token(relay.token)))
        yield f"{relay.public_url}/mcp"
