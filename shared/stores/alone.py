"""One at a time under a key, at whichever replica."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.stores.kv import KeyValue

_AGAIN_SECONDS = 0.02


@asynccontextmanager
async def alone(store: KeyValue, key: str, seconds: int) -> AsyncIterator[None]:
    """Inside, nobody else is. Who dies inside holds the others up for `seconds` at most.

    May raise `StoreUnavailable`. Who takes longer than `seconds` is not alone any more: what is
    done inside must bear that.
    """
    while True:
        if await store.add(key, b"1", seconds):
            break
        await asyncio.sleep(_AGAIN_SECONDS)
    try:
        yield
    finally:
        await store.remove(key)
