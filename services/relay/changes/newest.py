"""A session's newest stream, at whichever replica: it ends the older ones, and hears of changes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from services.relay.changes.between import MISSED, Between
from services.relay.changes.telling import Telling
from shared import ids


@dataclass(slots=True)
class _Open:
    """`known`: everybody has been told of it. `changes`: by name, those that it has to heed."""

    telling: Telling
    changes: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    known: bool = False


class Newest:
    """`place`: the key of a session. Methods may raise `StoreUnavailable`."""

    def __init__(self, between: Between) -> None:
        self._between = between
        self._streams: dict[tuple[str, str], _Open] = {}
        between.on(
            "stream-opened",
            lambda what: self._opened(what["session"], what["stream"]),
            back=lambda what: self._is_known(what["session"], what["stream"]),
        )
        between.on("session-ended", lambda what: self._ended(what["session"]))
        between.on("subscribed", lambda what: self._changed(what["session"], what["change"]))
        between.on(MISSED, lambda _: self._missed())

    @asynccontextmanager
    async def of(self, place: str, telling: Telling) -> AsyncIterator[asyncio.Queue[str]]:
        """From here on it is the session's stream. Gives the names of changes as they come."""
        name, stream = ids.new_id(), _Open(telling)
        self._streams[place, name] = stream
        try:
            # there before it is told: of two that begin at once, one ends the other
            await self._between.tell("stream-opened", session=place, stream=name)
            yield stream.changes
        finally:
            del self._streams[place, name]

    async def end(self, place: str) -> None:
        """The session has ended, and its stream with it."""
        await self._between.tell("session-ended", session=place)

    async def changed(self, place: str, change: str) -> None:
        """The session's stream has something to heed. `change`: its name."""
        await self._between.tell("subscribed", session=place, change=change)

    def _opened(self, session: str, newest: str) -> None:
        """Those that are not known yet come after it, and end it in their turn."""
        for (place, name), stream in self._streams.items():
            if place == session and name != newest and stream.known:
                stream.telling.end()

    def _is_known(self, session: str, name: str) -> None:
        if (session, name) in self._streams:
            self._streams[session, name].known = True
        self._opened(session, name)

    def _ended(self, session: str) -> None:
        for (place, _), stream in self._streams.items():
            if place == session:
                stream.telling.end()

    def _changed(self, session: str, change: str) -> None:
        for (place, _), stream in self._streams.items():
            if place == session:
                stream.changes.put_nowait(change)

    def _missed(self) -> None:
        """Any word may have been, and none of our own comes back any more."""
        for stream in self._streams.values():
            stream.known = True
            stream.changes.put_nowait("")
