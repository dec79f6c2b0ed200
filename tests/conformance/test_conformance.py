"""Whatever the official package says of a server, it says of the same server behind the relay."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.conformance import suite
from tests.conformance.example_server import LOCK, NotFetched, unpacked
from tests.conformance.gaps import LEGACY_CALLER, MODERN_CALLER
from tests.peers.lone_relay import LoneRelay

pytestmark = [pytest.mark.node, pytest.mark.stack]

# checks that the example server of mcp 2.3.0 passes of all, per protocol version
SCORES = {"2025-06-18": (56, 0), "2025-11-25": (84, 0), "2026-07-28": (152, 0)}


@pytest.fixture(scope="module")
def direct() -> dict[str, suite.Report]:
    """What the package says of the server itself, by version, once it has been asked."""
    return {}


@pytest.mark.parametrize("version", SCORES)
@pytest.mark.parametrize("behind", [1, 2], ids=["one relay", "two in turn"], indirect=True)
async def test_every_check_ends_behind_the_relay_as_it_ends_direct(
    version: str,
    behind: str,
    everything: str,
    direct: dict[str, suite.Report],
    tmp_path: Path,
) -> None:
    if version not in direct:
        direct[version] = await suite.run(everything, version, tmp_path / "direct")
    assert direct[version].score == SCORES[version], direct[version].output
    through = await suite.run(f"{behind}/every", version, tmp_path / "relayed")
    assert suite.differences(direct[version], through) == "", through.output
    assert through.score == SCORES[version]


@pytest.mark.parametrize(
    ("version", "slug", "gaps"),
    [("2026-07-28", "legacy", MODERN_CALLER), ("2025-11-25", "modern", LEGACY_CALLER)],
)
async def test_across_eras_every_check_passes_that_is_not_a_known_gap(
    version: str, slug: str, gaps: set[str], relayed: str, tmp_path: Path
) -> None:
    through = await suite.run(f"{relayed}/{slug}", version, tmp_path)
    assert through.failed == gaps, through.output


async def test_without_the_token_the_example_server_is_out_of_reach(
    relay: LoneRelay,
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {
        "Host": urlsplit(relay.public_url).netloc,
        "Accept": "application/json, text/event-stream",
    }
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{relay.url}/mcp/every", json=body, headers=headers) as answer,
    ):
        assert answer.status == 401
        assert "resource_metadata=" in answer.headers["WWW-Authenticate"]


def test_an_archive_of_another_content_is_not_unpacked(tmp_path: Path) -> None:
    lock = tmp_path / "example_server.lock"
    lock.write_text(re.sub(r"sha256:\w+", f"sha256:{'0' * 64}", LOCK.read_text()))
    with pytest.raises(NotFetched, match=r"(?i)hash"):
        unpacked(lock, tmp_path / "cache")
    assert not list(tmp_path.glob("cache/**/*.py"))
