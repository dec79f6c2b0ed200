"""auth and its provider beside a browser: the fixtures of `conftest.py`, on the browser's loop."""

from collections.abc import AsyncIterator

import pytest_asyncio

from demo.provider.keys import Keys
from tests.auth.conftest import Auth, Clock, StartAuth, StartBoth, starting_auth, starting_both


@pytest_asyncio.fixture(loop_scope="session")
async def start_auth(clock: Clock) -> AsyncIterator[StartAuth]:
    async with starting_auth(clock) as start:
        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def start_both(
    start_auth: StartAuth, provider_keys: Keys, clock: Clock
) -> AsyncIterator[StartBoth]:
    async with starting_both(start_auth, provider_keys, clock) as start:
        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def auth(start_both: StartBoth) -> Auth:
    return await start_both()
