"""A console for each test, with the person who may use `toys` signed in."""

from collections.abc import AsyncIterator

import pytest

from tests.apphost.console import CHARLES, Console, running

HTML = "<!doctype html><title>toys</title><p>hello"


@pytest.fixture
async def console() -> AsyncIterator[Console]:
    """`toys` ships one page, declared by the read-only tool `show`."""
    async with running() as found:
        found.toys.page(HTML)
        found.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
        found.toys.tool("plain")
        yield found


@pytest.fixture
async def ada(console: Console) -> str:
    """The cookie of somebody who may use `toys`."""
    return await console.sign_in()


@pytest.fixture
async def charles(console: Console) -> str:
    """The cookie of somebody who may not."""
    return await console.sign_in(CHARLES)
