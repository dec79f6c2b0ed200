"""More relays of one installation: any of them answers any request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from services.relay.app import build
from shared.web.serve import listening
from tests.relay.house import House


@asynccontextmanager
async def twin(h: House) -> AsyncIterator[str]:
    """One more relay over the same store; gives its own address."""
    settings = replace(h.settings, base=replace(h.settings.base, port=0))
    public, internal = build(settings, h.store, h.clock)
    async with listening(settings.base, public, internal) as (port, _):
        yield f"http://127.0.0.1:{port}"
