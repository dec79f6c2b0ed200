"""strad in front of the published servers, and one browser for all of their pages."""

import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

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


@pytest.fixture(scope="package")
def session(console: LiveStack) -> str:
    """Ada's, for a browser."""
    return console.sign_in("ada")


@pytest_asyncio.fixture(loop_scope="session", scope="package")
async def browser() -> AsyncIterator[Browser]:
    """Chromium."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    path = need(next(filter(None, found), None), "Chromium or Chrome")
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=path)
        yield running
        await running.close()
