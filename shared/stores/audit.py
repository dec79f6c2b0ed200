"""The audit trail: a Redis stream that services append to, and the operator's command reads.

Entries are sealed under a key of their own: a dump names nobody, and an entry that somebody else
wrote into Redis does not open. Whoever holds a service's Redis password can remove entries; the
service's log tells what happened too.

A denial, and what a person confirmed, is appended before it takes effect. What is allowed waits for
at most BATCH_SECONDS and is appended together: a crash loses that much and no more. A request that
takes longer is written twice, once while it runs; one that has just begun when others are written
waits for the next batch, for it may be over by then.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator
from typing import Any

from shared import keys, log
from shared.clock import Clock
from shared.contracts.audit import AuditRules, Entry
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue, StoreUnavailable

BATCH_SECONDS = 0.05
_YOUNG_SECONDS = 0.025
MOST_WAITING = 2000
ROOM_SECONDS = 1.0
_AGAIN_SECONDS = 0.5
_END_SECONDS = 3.0
_TRIM_SECONDS = 60
_PAGE = 500


class Trail:
    """Appends. One for a process."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock, rules: AuditRules) -> None:
        self.rules = rules
        self.clock = clock
        self._store = store
        self._seal = seal
        self._waiting: list[Entry] = []
        self._writing: list[bytes] = []
        self._room = asyncio.Event()
        self._room.set()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._trim_at = 0.0

    def digest(self, text: str) -> str:
        """The keyed digest of arguments: equal ones can be told, and none can be guessed."""
        return self._seal.digest("arguments", text)[:22]

    async def now(self, entry: Entry) -> None:
        """Append, and only then return. Raises `StoreUnavailable`."""
        entry.ended = True
        try:
            await self._store.append(keys.AUDIT.key, [self._sealed(entry)], self.rules.most)
        except StoreUnavailable:
            entry.ended = False
            raise
        entry.done = True

    async def begin(self, entry: Entry) -> None:
        """Append a request that only begins, and only then return. Raises `StoreUnavailable`."""
        await self._store.append(keys.AUDIT.key, [self._sealed(entry)], self.rules.most)
        entry.written = True

    async def room(self) -> None:
        """Wait until one more entry can be taken. Raises `StoreUnavailable`: it cannot in time."""
        if self._room.is_set():
            return
        try:
            async with asyncio.timeout(ROOM_SECONDS):
                await self._room.wait()
        except TimeoutError as error:
            raise StoreUnavailable("the audit trail cannot be written") from error

    def soon(self, entry: Entry) -> None:
        """Append within BATCH_SECONDS, or as soon as the store can be reached again."""
        entry.since = time.monotonic()
        self._waiting.append(entry)
        if len(self._waiting) + len(self._writing) >= MOST_WAITING:
            self._room.clear()
        if self._task is None:
            self._task = asyncio.create_task(self._write())

    def end(self, entry: Entry) -> None:
        """The request has ended: an entry that was written while it ran is written once more."""
        if not entry.ended:
            entry.ended = True
            if entry.written:
                self.soon(entry)

    async def close(self) -> None:
        """Write what still waits."""
        self._closing.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_END_SECONDS)
        if lost := len(self._waiting) + len(self._writing):
            log.warning("audit-lost", entries=lost)

    async def _write(self) -> None:
        pause = self._due()
        while self._waiting or self._writing:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._closing.wait()
            if not self._writing:
                self._take()
            try:
                if self._writing:
                    await self._store.append(keys.AUDIT.key, self._writing, self.rules.most)
                    self._writing = []
                    await self._trim()
            except StoreUnavailable:
                log.warning("audit-waits", entries=len(self._waiting) + len(self._writing))
                if self._closing.is_set():
                    break
                pause = _AGAIN_SECONDS
            else:
                pause = self._due()
                self._room.set()
        self._task = None

    def _take(self) -> None:
        young = math.inf if self._closing.is_set() else time.monotonic() - _YOUNG_SECONDS
        left: list[Entry] = []
        for entry in self._waiting:
            if entry.done or (entry.written and not entry.ended):
                continue
            if not entry.ended and entry.since > young:
                left.append(entry)  # it can wait for the next batch, and may end before that
            else:
                entry.written, entry.done = True, entry.ended
                try:
                    self._writing.append(self._sealed(entry))
                except Exception:
                    # the others must not be lost with it; the log has its facts
                    log.failure("audit-entry-lost", entry=entry.kept["id"])
        self._waiting = left

    def _due(self) -> float:
        """Seconds until the first that waits has waited for BATCH_SECONDS."""
        if not self._waiting:
            return BATCH_SECONDS
        return max(0.0, self._waiting[0].since + BATCH_SECONDS - time.monotonic())

    async def _trim(self) -> None:
        now = self.clock()
        if now >= self._trim_at:
            self._trim_at = now + _TRIM_SECONDS
            await self._store.trim(keys.AUDIT.key, now - self.rules.keep)

    def _sealed(self, entry: Entry) -> bytes:
        return self._seal.seal(keys.AUDIT.key, entry.record(), self.clock() + self.rules.keep)


class TrailReader:
    """Reads the trail, for the operator."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self.unreadable = 0

    async def entries(self, since: float) -> AsyncIterator[dict[str, Any]]:
        """The entries appended since then (Unix seconds), oldest first.

        What does not open is counted in `unreadable`: written by somebody else, with an older key,
        or past its end.
        """
        after = f"{int(since * 1000)}-0"
        while True:
            page = await self._store.entries(keys.AUDIT.key, after, _PAGE)
            for number, sealed in page:
                after = f"({number}"
                try:
                    yield self._seal.open(keys.AUDIT.key, sealed, self._clock())
                except SealBroken:
                    self.unreadable += 1
            if len(page) < _PAGE:
                return
