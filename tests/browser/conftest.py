"""Browsers and people for the tests with real Chromium.

Two traps of Playwright, and what is done about them here: `evaluate` counts as a user's gesture, so
what must happen without one is done by a page of its own accord; and Playwright switches the popup
blocker off, so `browser` leaves that switch out.
"""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.apphost.console import Console
from tests.browser.beside import console, sink
from tests.browser.people import Person
from tests.browser.sdk import VERSIONS, Sdk
from tests.conftest import need
from tests.live import LiveStack

__all__ = ["console", "sink"]


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def browser() -> AsyncIterator[Browser]:
    """Chromium with its popup blocker, which Playwright would switch off."""
    async with _launched("--disable-popup-blocking") as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def keeping_browser() -> AsyncIterator[Browser]:
    """Chromium with what Playwright would switch off too: its back-forward cache, and the limit on
    how often a page may change its address."""
    flood = "--disable-ipc-flooding-protection"
    cache = "--disable-back-forward-cache"
    async with _launched("--disable-popup-blocking", cache, flood) as browser:
        yield browser


@asynccontextmanager
async def _launched(*without: str) -> AsyncIterator[Browser]:
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    path = need(next(filter(None, found), None), "Chromium or Chrome")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path, ignore_default_args=list(without)
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def ada(stack: LiveStack, browser: Browser) -> AsyncIterator[Person]:
    """The entitled person at a browser of her own, signed in by hand at the demo provider."""
    person = await Person.at(browser, stack.url)
    await person.sign_in("Ada Lovelace")
    yield person
    await person.leave()


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(console: Console, browser: Browser) -> AsyncIterator[Person]:
    """Somebody with a session at `console`."""
    person = await Person.at(browser, console.url)
    await person.take_session(await console.sign_in())
    yield person
    await person.leave()


@pytest.fixture(params=VERSIONS)
def sdk(request: pytest.FixtureRequest) -> Sdk:
    """The official SDK, in each version that a page may be built with."""
    return Sdk(request.param)
