"""A session's GET stream comes before the calls that its server may ask something there.

A client opens the stream and calls at once, on two connections. In front of several replicas the
call can get to the server first, and what the server then asks in the stream is lost. So the first
call of a session waits for the stream: shortly, for a client need not open one.
"""

import asyncio
import contextlib
from weakref import WeakValueDictionary

from mcp_types.methods import INPUT_REQUIRED_METHODS

from services.relay.callers.sessions import McpSessions
from services.relay.changes.between import Between
from services.relay.servers.offered import Offered
from shared.stores.kv import KeyValue, StoreUnavailable

WAIT_SECONDS = 0.1
_DUE_SECONDS = 3
_WORD = "stream-first"


class StreamFirst:
    """At whichever replica the stream and the call arrive. `session_id`: the relay's own."""

    def __init__(
        self, store: KeyValue, sessions: McpSessions, offered: Offered, between: Between
    ) -> None:
        self._store = store
        self._key = sessions.stream_key
        self._offered = offered
        self._between = between
        # as long as somebody waits: who leaves takes it from nobody else
        self._waiting: WeakValueDictionary[str, asyncio.Event] = WeakValueDictionary()
        between.on(_WORD, lambda what: self._go_on(what["session"]))

    async def expect(self, session_id: str, slug: str) -> None:
        """A session with a server begins: its client may open a stream next.

        Raises `StoreUnavailable`.
        """
        if not self._offered.nothing(slug):
            await self._store.put(self._key(session_id), b"due", _DUE_SECONDS)

    async def answered(self, session_id: str) -> None:
        """The server has answered the GET: with a stream, or that there is none."""
        with contextlib.suppress(StoreUnavailable):  # the calls go on by themselves
            if await self._store.get(self._key(session_id)) is not None:
                await self._settle(self._key(session_id))

    async def wait(self, session_id: str, method: object) -> None:
        """Return when this may be sent, after `WAIT_SECONDS` at the latest.

        Raises `StoreUnavailable`.
        """
        key = self._key(session_id)
        if method not in INPUT_REQUIRED_METHODS or await self._store.get(key) is None:
            return
        opened = self._waiting.setdefault(key, asyncio.Event())
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                # again: it may have been opened before there was anything here to tell
                if await self._store.get(key) is not None:
                    await opened.wait()
        except TimeoutError:
            with contextlib.suppress(StoreUnavailable):
                await self._settle(key)

    async def _settle(self, key: str) -> None:
        await self._store.remove(key)
        await self._between.tell(_WORD, session=key)

    def _go_on(self, key: str) -> None:
        if (opened := self._waiting.get(key)) is not None:
            opened.set()
