"""Hears one server's changes for one caller, whatever the server speaks, for as long as it may.

A stream that breaks off is opened again. What may have changed meanwhile is then told as changed:
a caller that looks once too often is right, and one that does not look is wrong.
"""

import asyncio
from collections.abc import Callable

from services.relay.changes.changes import Wanted
from services.relay.changes.hearing import Ear, LegacyHearing, Unserved, hear_modern
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers.ask import DISCOVER, Asker
from services.relay.servers.eras import Era, Eras
from services.relay.servers.hello import Hello
from services.relay.servers.legacy import HandshakeRefused, SessionLost
from services.relay.servers.modern import NotModern
from services.relay.servers.upstream import Upstream
from shared import log
from shared.contracts.problems import Problem
from shared.stores.kv import StoreUnavailable

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
_FAILURES = (Problem, SessionLost, HandshakeRefused, NotModern, StoreUnavailable)

Say = Callable[[rpc.Message], None]
Ready = asyncio.Future[Wanted]


class Listener:
    """One for all servers and callers."""

    def __init__(
        self, upstream: Upstream, eras: Eras, asker: Asker, legacy_hearing: LegacyHearing
    ) -> None:
        self._upstream = upstream
        self._eras = eras
        self._asker = asker
        self._legacy = legacy_hearing

    async def run(self, way: Way, hello: Hello, wanted: Wanted, say: Say, ready: Ready) -> None:
        """Until it is cancelled, or at once when the server tells of nothing that is wanted.

        `ready` gets what it will tell of, once it listens; when the first try fails, all of it.
        """
        pause, missed = FIRST_PAUSE, False

        def listening(honoured: Wanted) -> None:
            nonlocal pause
            pause = FIRST_PAUSE
            _settle(ready, honoured)
            for change in honoured.all() if missed else ():
                say(change)

        while True:
            try:
                await self._hear(Ear(way, hello, wanted, say, listening))
                reason = "ended"
            except Unserved:
                _settle(ready, Wanted())
                return
            except _FAILURES as error:
                reason = error.kind if isinstance(error, Problem) else type(error).__name__
            except Exception:
                # a stream that nobody listens for would stay open and silent
                log.failure("listening-failed")
                reason = "internal"
            log.event("listening-broke-off", slug=way.server.slug, reason=reason)
            missed = True
            _settle(ready, wanted)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def tells(self, way: Way, hello: Hello, wanted: Wanted) -> bool:
        """Whether the server says that it tells of any of this. Raises a `Problem`."""
        return bool(wanted.within(await self._capabilities(way, hello)))

    async def _capabilities(self, way: Way, hello: Hello) -> rpc.Message:
        answer = await self._asker.ask(way, hello, DISCOVER, {})
        found = answer.get("result", {}).get("capabilities")
        return found if isinstance(found, dict) else {}

    async def _hear(self, ear: Ear) -> None:
        wanted = ear.wanted.within(await self._capabilities(ear.way, ear.hello))
        if not wanted:
            raise Unserved
        ear = Ear(ear.way, ear.hello, wanted, ear.say, ear.listening)
        try:
            if await self._eras.of(ear.way) is Era.MODERN:
                await hear_modern(self._upstream, ear)
            else:
                await self._legacy.hear(ear)
        except (HandshakeRefused, NotModern):
            self._eras.forget(ear.way.server.slug)
            raise


def _settle(ready: Ready, honoured: Wanted) -> None:
    if not ready.done():
        ready.set_result(honoured)
