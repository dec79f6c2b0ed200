"""One at a time under a key, at whichever replica."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from shared.stores.kv import KeyValue

_AGAIN_SECONDS = 0.02


class Alone:
    """One of a process, for one kind of keys."""

    def __init__(self, store: KeyValue) -> None:
        self._store = store
        self._here: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def at(self, key: str, seconds: int) -> AsyncIterator[None]:
        """Inside, nobody else is. Who dies inside holds the others up for `seconds` at most.

        May raise `StoreUnavailable`. Who takes longer than `seconds` is not alone any more: what is
        done inside must bear that.
        """
        # one of this process asks for all of it whether another replica is at it
        async with self._here.setdefault(key, asyncio.Lock()):
            while True:
                if await self._store.add(key, b"1", seconds):
                    break
                await asyncio.sleep(_AGAIN_SECONDS)
            try:
                yield
            finally:
                await self._store.remove(key)
