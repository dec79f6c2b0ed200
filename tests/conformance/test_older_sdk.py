"""A server written with the SDK of the time before 2026-07-28, as most servers are by now.

Its own versions pass as they are. For a caller of 2026-07-28 the relay goes between.
"""

from collections.abc import AsyncIterator, Iterator
from importlib.metadata import distributions
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from demo.run.ports import LOOPBACK, free_ports
from tests.conformance import suite
from tests.conformance.example_server import installed, older_example_server
from tests.conformance.front import front, with_token
from tests.conformance.gaps import OLDER_SDK
from tests.conftest import need
from tests.peers.lone_relay import LoneRelay, lone_relay

pytestmark = [pytest.mark.node, pytest.mark.stack]

# it has no tool for the one scenario that asks for a schema of 2020-12
SCORES = {"2025-06-18": (56, 0), "2025-11-25": (77, 1)}


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the older example server."""
    need(suite.is_installed(), "Node 22 and the conformance package: `npm ci`")
    with older_example_server(tmp_path_factory.mktemp("older") / "older.log") as url:
        yield url


@pytest.fixture(scope="module")
def relay(older: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoneRelay]:
    """Two replicas in front of it."""
    (port,) = free_ports(1)
    folder = tmp_path_factory.mktemp("relay")
    with lone_relay(folder, f"http://{LOOPBACK}:{port}", {"older": older}, replicas=2) as running:
        yield running


@pytest.fixture
async def relayed(relay: LoneRelay) -> AsyncIterator[str]:
    """Its address behind both in turn, for a client that sends no token."""
    port = urlsplit(relay.public_url).port
    assert port is not None
    async with front(port, [one.url for one in relay.replicas], with_token(relay.token)):
        yield f"{relay.public_url}/mcp/older"


@pytest.mark.parametrize("version", SCORES)
async def test_a_server_of_the_older_sdk_ends_every_check_as_it_does_direct(
    version: str, older: str, relayed: str, tmp_path: Path
) -> None:
    direct = await suite.run(older, version, tmp_path / "direct")
    assert direct.score == SCORES[version], direct.output
    through = await suite.run(relayed, version, tmp_path / "relayed")
    assert suite.differences(direct, through) == "", through.output


async def test_for_a_newer_caller_it_lacks_what_it_does_not_have_and_nothing_else(
    relayed: str, tmp_path: Path
) -> None:
    through = await suite.run(relayed, "2026-07-28", tmp_path)
    assert through.failed == OLDER_SDK, through.output
    assert through.score == (111, 23), through.output


def test_the_older_sdk_is_the_one_that_is_meant() -> None:
    need(suite.is_installed(), "Node 22 and the conformance package: `npm ci`")
    (found,) = (one for one in distributions(name="mcp", path=[str(installed())]))
    assert found.version == "1.30.0"
