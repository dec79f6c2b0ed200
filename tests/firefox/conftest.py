"""Firefox and people at it."""

import shutil
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.apphost.console import Console
from tests.browser.beside import console, sink
from tests.conftest import need
from tests.firefox.bidi import Bidi
from tests.firefox.launch import launched
from tests.firefox.people import Person
from tests.live import LiveStack

__all__ = ["console", "sink"]


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def firefox() -> AsyncIterator[Bidi]:
    """One browser for all tests; each person has a container of their own."""
    found = (shutil.which(name) for name in ("firefox-esr", "firefox"))
    path = need(next(filter(None, found), None), "Firefox (firefox-esr)")
    async with launched(path) as bidi:
        yield bidi


@pytest_asyncio.fixture(loop_scope="session")
async def ada(stack: LiveStack, firefox: Bidi) -> AsyncIterator[Person]:
    """The entitled person, signed in by hand at the demo provider."""
    person = await Person.at(firefox, stack.url)
    await person.sign_in("Ada Lovelace")
    yield person
    await person.leave()


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(console: Console, firefox: Bidi) -> AsyncIterator[Person]:
    """Somebody with a session at `console`."""
    person = await Person.at(firefox, console.url)
    await person.take_session(await console.sign_in())
    yield person
    await person.leave()
