"""One example server, and one relay in front of it: as it is, and as servers of one era."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
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
    """Two replicas in front of all three. At their address listens whoever plays the edge."""
    (port,) = free_ports(1)
    servers = {era: f"http://{LOOPBACK}:{guard}/mcp" for era, guard in guards.items()}
    servers["every"] = everything
    folder = tmp_path_factory.mktemp("relay")
    with lone_relay(folder, f"http://{LOOPBACK}:{port}", servers, replicas=2) as running:
        yield running


@pytest.fixture
async def relayed(relay: LoneRelay, everything: str, guards: dict[str, int]) -> AsyncIterator[str]:
    """The address of the servers behind both replicas in turn, for a client without a token."""
    async with edge(relay, [one.url for one in relay.replicas], everything, guards) as url:
        yield url


@pytest.fixture
async def behind(
    request: pytest.FixtureRequest, relay: LoneRelay, everything: str, guards: dict[str, int]
) -> AsyncIterator[str]:
    """The same behind so many replicas: each request goes to the one after the last."""
    replicas = [one.url for one in relay.replicas[: request.param]]
    async with edge(relay, replicas, everything, guards) as url:
        yield url


@asynccontextmanager
async def edge(
    relay: LoneRelay, replicas: Sequence[str], everything: str, guards: dict[str, int]
) -> AsyncIterator[str]:
    """What stands in front of these replicas, and the guards behind them."""
    port = urlsplit(relay.public_url).port
    assert port is not None
    origin = everything.removesuffix("/mcp")
    async with AsyncExitStack() as stack:
        for era, guard in guards.items():
            await stack.enter_async_context(front(guard, origin, GUARDS[era]))
        await stack.enter_async_context(front(port, replicas, with_token(relay.token)))
        yield f"{relay.public_url}/mcp"
