"""strad in front of the published servers."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from demo.run.ports import free_ports
from demo.run.settings import Settings
from tests.conftest import need
from tests.live import LiveStack
from tests.real.published import are_installed, published

CONFIG = Path(__file__).parent / "strad.yaml"


@pytest.fixture(scope="package")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """The published servers' own addresses, by slug."""
    need(are_installed(), "Node 22 and the published servers: `npm ci`")
    with published(tmp_path_factory.mktemp("published")) as urls:
        yield urls


@pytest.fixture(scope="package")
def console(addresses: Mapping[str, str]) -> Iterator[LiveStack]:
    """strad with these servers and no others; Ada may use them all, Charles none."""
    variables = {f"{slug.upper().replace('-', '_')}_URL": url for slug, url in addresses.items()}
    (port,) = free_ports(1, in_a_row=2)
    with LiveStack(Settings(port=port, config=CONFIG, variables=variables)) as live:
        yield live


@pytest.fixture(scope="package")
def token(console: LiveStack) -> str:
    """Ada's, for an MCP client."""
    return console.token("ada")
