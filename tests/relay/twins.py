"""More relays of one installation: any of them answers any request."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from services.relay.app import build
from shared.web.serve import listening
from tests.relay.house import House, house
from tests.relay.upstreams import Fake


@asynccontextmanager
async def twin(h: House) -> AsyncIterator[str]:
    """One more relay over the same store; gives its own address."""
    settings = replace(h.settings, base=replace(h.settings.base, port=0))
    public, internal = build(settings, h.store, h.clock)
    async with listening(settings.base, public, internal) as (port, _):
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def two_before(server: Fake, **more: Any) -> AsyncIterator[tuple[House, str]]:
    """A server `a`, with `more` settings, behind two relays; the second one's address."""
    async with (
        server.served() as url,
        house([{"slug": "a", "url": url, **more}]) as h,
        twin(h) as other,
    ):
        yield h, other
