"""One example server, and one relay in front of it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from demo.run.ports import LOOPBACK, free_ports
from tests.conformance import suite
from tests.conformance.bearer import bearer_front
from tests.conformance.example_server import example_server
from tests.conftest import need
from tests.peers.lone_relay import LoneRelay, lone_relay


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the SDK's example server."""
    need(suite.is_installed(), "Node 22 and the conformance package: `npm ci`")
    with example_server(tmp_path_factory.mktemp("everything") / "everything.log") as url:
        yield url


@pytest.fixture(scope="module")
def relay(everything: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoneRelay]:
    """A relay in front of it. At its public address listens whoever plays the edge."""
    (port,) = free_ports(1)
    public_url = f"http://{LOOPBACK}:{port}"
    with lone_relay(tmp_path_factory.mktemp("relay"), public_url, {"every": everything}) as running:
        yield running


@pytest.fixture
async def relayed(relay: LoneRelay) -> AsyncIterator[str]:
    """The example server's address behind the relay, for a client that sends no token."""
    async with bearer_front(relay):
        yield f"{relay.public_url}/mcp/every"
