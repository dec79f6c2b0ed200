"""A server written with the SDK of the time before 2026-07-28, as most servers are by now.

Its own versions pass as they are. For a caller of 2026-07-28 the relay goes between.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import distributions
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from demo.run.ports import LOOPBACK, free_ports
from tests.conformance import suite
from tests.conformance.example_server import installed, older_example_server
from tests.conformance.front import front, with_token
from tests.conformance.gaps import OLDER_SDK
from tests.conftest import need
from tests.peers.lone_relay import LoneRelay, lone_relay
from tests.relay.house import house
from tests.relay.upstreams import modern_fake, sdk_app, served, toy_server

pytestmark = [pytest.mark.node, pytest.mark.stack]

CLIENT = Path(__file__).parent / "older_client.py"
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


async def test_an_older_client_outlives_the_trouble_of_one_server() -> None:
    need(suite.is_installed(), "Node 22 and the conformance package: `npm ci`")
    failing = modern_fake([{"name": "go", "inputSchema": {}}], lambda *_: web.Response(status=500))
    (port,) = free_ports(1)
    async with (
        served(sdk_app(toy_server())) as toys,
        failing.served() as fails,
        house(
            [
                {"slug": "toys", "url": toys},
                {"slug": "fails", "url": fails},
                {"slug": "away", "url": f"http://{LOOPBACK}:{port}/mcp"},
            ]
        ) as h,
    ):
        calls = ["toys__echo", "away__go", "toys__echo", "fails__go", "toys__echo"]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(CLIENT), f"{h.url}/mcp", *calls),
            env={"PYTHONPATH": str(installed()), "TOKEN": await h.token()},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            out, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    tools, *heard = json.loads(out)
    assert "toys__echo" in tools
    assert heard[::2] == [["x"]] * 3
    assert "Away cannot be reached" in heard[1]
    assert "Fails refused the request" in heard[3]


def test_the_older_sdk_is_the_one_that_is_meant() -> None:
    need(suite.is_installed(), "Node 22 and the conformance package: `npm ci`")
    (found,) = (one for one in distributions(name="mcp", path=[str(installed())]))
    assert found.version == "1.30.0"
