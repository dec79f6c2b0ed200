"""One round trip for what a request will read anyway: its token, its grant, its session.

A value that was fetched ahead is handed out once, to the request it was fetched for. Whatever is
read a second time (while a stream is open, say) is read from the store itself.
"""

from collections.abc import Sequence
from contextvars import ContextVar

from shared.stores.kv import KeyValue

_FETCHED: ContextVar[dict[str, bytes | None] | None] = ContextVar("fetched", default=None)


class ReadAhead:
    """`KeyValue` over another one."""

    def __init__(self, store: KeyValue) -> None:
        self._store = store
        self.put = store.put
        self.add = store.add
        self.count = store.count
        self.remove = store.remove
        self.index_add = store.index_add
        self.index_remove = store.index_remove
        self.index = store.index
        self.publish = store.publish
        self.hear = store.hear
        self.append = store.append
        self.trim = store.trim
        self.entries = store.entries
        self.ping = store.ping
        self.close = store.close

    async def fetch(self, keys: Sequence[str]) -> None:
        """Read these keys now, and forget what was fetched ahead before."""
        _FETCHED.set(dict(zip(keys, await self._store.get_many(keys), strict=True)))

    async def get(self, key: str) -> bytes | None:
        """See `KeyValue.get`."""
        fetched = _FETCHED.get()
        if fetched is not None and key in fetched:
            return fetched.pop(key)
        return await self._store.get(key)

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """See `KeyValue.get_many`; always from the store."""
        return await self._store.get_many(keys)
