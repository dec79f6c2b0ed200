"""A session's GET stream comes before the calls that its server may ask something there.

A client opens the stream and calls at once, on two connections. In front of several replicas the
call can get to the server first, and what the server then asks in the stream is lost. So the first
call of a session waits for the stream: shortly, for a client need not open one; and a little longer
for one that is on its way, for the server may be far.
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
COMING_SECONDS = 0.5
_DUE_SECONDS = 3
_DUE, _COMING = b"due", b"coming"
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
            await self._store.put(self._key(session_id), _DUE, _DUE_SECONDS)

    async def coming(self, session_id: str) -> None:
        """The client has opened its stream: now it is the server's turn.

        Raises `StoreUnavailable`.
        """
        key = self._key(session_id)
        if await self._store.get(key) is not None:
            await self._store.replace(key, _COMING, _DUE_SECONDS)

    async def answered(self, session_id: str) -> None:
        """The server has answered the GET: with a stream, or that there is none."""
        with contextlib.suppress(StoreUnavailable):  # the calls go on by themselves
            if await self._store.get(self._key(session_id)) is not None:
                await self._settle(self._key(session_id))

    async def wait(self, session_id: str, method: object) -> None:
        """Return when this may be sent: after `WAIT_SECONDS` at the latest if there is no stream.

        Raises `StoreUnavailable`.
        """
        key = self._key(session_id)
        if method not in INPUT_REQUIRED_METHODS or await self._store.get(key) is None:
            return
        opened = self._waiting.setdefault(key, asyncio.Event())
        if await self._opens(key, opened, WAIT_SECONDS):
            return
        with contextlib.suppress(StoreUnavailable):
            is_coming = await self._store.get(key) == _COMING
            if not (is_coming and await self._opens(key, opened, COMING_SECONDS)):
                await self._settle(key)

    async def _opens(self, key: str, opened: asyncio.Event, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                # again: it may have been opened before there was anything here to tell
                if await self._store.get(key) is not None:
                    await opened.wait()
        except TimeoutError:
            return False
        return True

    async def _settle(self, key: str) -> None:
        await self._store.remove(key)
        await self._between.tell(_WORD, session=key)

    def _go_on(self, key: str) -> None:
        if (opened := self._waiting.get(key)) is not None:
            opened.set()
