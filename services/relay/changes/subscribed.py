"""The resources that a session has subscribed to, at whichever replica: kept sealed in Redis."""

import base64
import contextlib

from services.relay.changes.changes import MAX_URIS
from shared import keys
from shared.clock import Clock
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue

KEEP_SECONDS = 24 * 3600


class Subscribed:
    """By the key of a session. Methods may raise `StoreUnavailable`."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock

    async def uris(self, session: str) -> tuple[str, ...]:
        """All of them, in one order."""
        return tuple(sorted({uri for uri, _ in await self._kept(session)}))

    async def add(self, session: str, uri: str) -> bool:
        """Whether it is among them now; there is room for MAX_URIS."""
        kept = await self.uris(session)
        if uri in kept:
            return True
        if len(kept) >= MAX_URIS:
            return False
        end = self._clock() + KEEP_SECONDS
        sealed = self._seal.seal(_key(session), {"uri": uri}, end)
        member = base64.b64encode(sealed).decode()
        await self._store.index_add(_key(session), member, KEEP_SECONDS)
        return True

    async def remove(self, session: str, uri: str) -> None:
        """Forget one."""
        for kept, member in await self._kept(session):
            if kept == uri:  # more than once, where it was subscribed to twice at once
                await self._store.index_remove(_key(session), member)

    async def end(self, session: str) -> None:
        """Forget all."""
        await self._store.remove(_key(session))

    async def _kept(self, session: str) -> list[tuple[str, str]]:
        found = list[tuple[str, str]]()
        for member in await self._store.index(_key(session)):
            with contextlib.suppress(SealBroken, ValueError):
                sealed = base64.b64decode(member)
                record = self._seal.open(_key(session), sealed, self._clock())
                found.append((record["uri"], member))
        return found


def _key(session: str) -> str:
    return keys.MCP_SESSION.key("uris", session.removeprefix(keys.MCP_SESSION.prefix))
