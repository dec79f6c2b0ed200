"""One round trip for what a request will read anyway: its token, its grant, its session, and what
it is counted by.

A value that was fetched ahead is handed out once, to the request it was fetched for. Whatever is
read a second time (while a stream is open, say) is read from the store itself.
"""

from collections.abc import Collection, Sequence
from contextvars import ContextVar

from shared.stores.kv import KeyValue

Values = dict[str, bytes | None]

_AHEAD: ContextVar[tuple[Values, dict[str, int]] | None] = ContextVar("ahead", default=None)


class ReadAhead:
    """`KeyValue` over another one."""

    def __init__(self, store: KeyValue) -> None:
        self._store = store
        self.put = store.put
        self.add = store.add
        self.replace = store.replace
        self.look = store.look
        self.remove = store.remove
        self.index_add = store.index_add
        self.index_remove = store.index_remove
        self.index = store.index
        self.used = store.used
        self.unused = store.unused
        self.publish = store.publish
        self.hear = store.hear
        self.append = store.append
        self.trim = store.trim
        self.entries = store.entries
        self.ping = store.ping
        self.close = store.close

    async def fetch(
        self, keys: Sequence[str], counted: Sequence[str], ending: Collection[str], seconds: int
    ) -> Values:
        """Read these keys and count those now, and forget what was fetched ahead before.

        The values are still to be handed out: who takes one out of them is the one who got it.
        """
        found, numbers = await self._store.look(keys, counted, ending, seconds)
        values = dict(zip(keys, found, strict=True))
        _AHEAD.set((values, dict(zip(counted, numbers, strict=True))))
        return values

    async def get(self, key: str) -> bytes | None:
        """See `KeyValue.get`."""
        ahead = _AHEAD.get()
        if ahead is not None and key in ahead[0]:
            return ahead[0].pop(key)
        return await self._store.get(key)

    async def count(self, key: str, seconds: int) -> int:
        """See `KeyValue.count`."""
        ahead = _AHEAD.get()
        if ahead is not None and key in ahead[1]:
            return ahead[1].pop(key)
        return await self._store.count(key, seconds)

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """See `KeyValue.get_many`; always from the store."""
        return await self._store.get_many(keys)
