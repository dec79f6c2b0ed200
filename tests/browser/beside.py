"""What stands beside a browser, whichever it is (fixtures for two folders)."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.apphost.console import Console, running
from tests.browser.sink import Sink


@pytest_asyncio.fixture(loop_scope="session")
async def console() -> AsyncIterator[Console]:
    """apphost alone, with servers that a test makes up."""
    async with running() as found:
        yield found


@pytest_asyncio.fixture(loop_scope="session")
async def sink() -> AsyncIterator[Sink]:
    """Where nothing must ever arrive."""
    async with Sink() as found:
        yield found
