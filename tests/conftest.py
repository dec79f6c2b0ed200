"""What tests of several folders share.

    need(found, what)   a tool that a machine may lack: skips loudly, or fails when
                        STRAD_REQUIRE_ALL=1 is set
    stack               strad and its demo as real processes, one for all tests of a run
    chromium            a browser, for the tests of one file (Playwright's *async* API: tests are
                        `async def`, on the loop of the session: tests.browser.IN_BROWSER)
    node                the path of Node
    free_port           a TCP port

Playwright's sync API is not for this suite: it leaves an event loop running in the main thread, and
every asyncio test after it would be refused.
"""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings
from playwright.async_api import Browser, async_playwright

from demo.run.ports import free_ports
from demo.run.settings import Settings
from tests.live import LiveStack

if TYPE_CHECKING:
    from tests.lanes import FolderByFolder

T = TypeVar("T")

# how long an example takes says something of the machine only
settings.register_profile("strad", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("strad")

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> "FolderByFolder":
    """Who runs what under `-n`. Without it pytest-xdist need not be there."""
    from tests.lanes import FolderByFolder

    return FolderByFolder(config, log)


def need(found: T | None, what: str) -> T:
    """`found`, unless it is empty: then the test is skipped, or fails where nothing may skip."""
    if found:
        return found
    if os.environ.get("STRAD_REQUIRE_ALL") == "1":
        pytest.fail(f"this test needs {what}, and STRAD_REQUIRE_ALL=1 lets nothing skip")
    pytest.skip(f"NOT TESTED HERE: this needs {what}")


@pytest.fixture(scope="session")
def stack() -> Iterator[LiveStack]:
    """Everything is up. A test that stops a part starts it again before it ends."""
    with LiveStack(Settings(port=free_ports(1, in_a_row=2)[0], faults=True)) as live:
        yield live


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def chromium() -> AsyncIterator[Browser]:
    """A browser of this file's own. Make a context for each person: `chromium.new_context()`."""
    found = (shutil.which(name) for name in _BROWSERS)
    path = need(next(filter(None, (*found, shutil.which(_MAC))), None), "Chromium or Chrome")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path)
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
def node() -> str:
    """The path of Node."""
    return need(shutil.which("node"), "Node (nodejs.org, version 20 or newer)")


@pytest.fixture
def free_port() -> int:
    """A port of 127.0.0.1 where nothing listens."""
    return free_ports(1)[0]
