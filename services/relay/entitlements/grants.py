"""Grants, kept in Redis for seconds so that every replica and every request agrees.

Sealed with the relay's own key under the person's own key: a writer to Redis can neither make a
grant, nor move one to another person, nor stretch its end, which is inside. An empty grant is kept
like any other. Redis away means `StoreUnavailable`, and never "allowed".
"""

import asyncio
from functools import partial
from typing import Any, TypeVar

from services.relay.entitlements import Source, SourceAway, SourceRefused, SourceUnavailable
from services.relay.entitlements.epochs import Epochs
from services.relay.entitlements.kept import Kept
from shared import keys, log, metrics
from shared.clock import Clock
from shared.contracts.access import Grant
from shared.contracts.entitlements import Entitlements
from shared.contracts.identity import Person
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue
from shared.stores.opened import Opened

T = TypeVar("T")

ASK_SECONDS = 12  # longer than any source may take
_LOOK_SECONDS = 0.05
_DOWN_SECONDS = 1.0
_MOST_NOTED = 10_000
_ANYBODY = ""
_TRIES = 3


class Grants:
    """What people may use. `source` may be replaced while it runs."""

    def __init__(
        self,
        source: Source,
        store: KeyValue,
        seal: Seal,
        epochs: Epochs,
        clock: Clock,
        rules: Entitlements,
    ) -> None:
        self.source = source
        self._store = store
        self._seal = seal
        self._opened = Opened[Kept](seal, clock)
        self._epochs = epochs
        self._clock = clock
        self._rules = rules
        self._asking: dict[Person, asyncio.Task[Grant]] = {}
        self._down: dict[str, tuple[float, str]] = {}
        self._answered: dict[str, float] = {}

    async def of(self, person: Person, wanted: str | None = None) -> Grant:
        """What this person may use now; a no to `wanted` is younger than a yes has to be.

        May raise `StoreUnavailable`, or ENTITLEMENTS_UNAVAILABLE when nobody can tell.
        """
        kept = await self._kept(person)
        if kept is not None and self._clock() - kept.asked < self._life(kept.grant, wanted):
            return kept.grant
        # one of this process asks, and leaves the others their answer even when it is called off
        task = self._asking.get(person)
        if task is None:
            task = asyncio.create_task(self._ask_for_all(person, kept))
            self._asking[person] = task
            task.add_done_callback(lambda done: self._asked(person, done))
        return await asyncio.shield(task)

    def _asked(self, person: Person, task: asyncio.Task[Grant]) -> None:
        del self._asking[person]
        if not task.cancelled():
            task.exception()  # whoever waited for it may have left

    def _life(self, grant: Grant, wanted: str | None) -> int:
        denied = not grant.servers or (wanted is not None and wanted not in grant.servers)
        return self._rules.keep_denied if denied else self._rules.keep

    async def _kept(self, person: Person) -> Kept | None:
        """The last answer that may still count, though perhaps only while the source is away."""
        key = keys.GRANT.key(person.subject)
        sealed = await self._store.get(key)
        if sealed is None:
            return None
        try:
            kept = self._opened.open(key, sealed, partial(Kept.read, person.subject))
        except SealBroken:
            return None
        if kept.email != person.email:
            return None  # entitlements are written by address, and this one is new
        if kept.version != self.source.version:
            return None
        return kept if await self._epochs.holds(person.email, kept.epoch) else None

    async def _ask_for_all(self, person: Person, kept: Kept | None) -> Grant:
        """Of all replicas one asks; the others look for its answer."""
        if not self.source.remote:
            return await self._ask(person, kept)
        lock = keys.GRANT_ASKED.key(person.subject)
        seen = None if kept is None else kept.asked
        loop = asyncio.get_running_loop()
        end = loop.time() + ASK_SECONDS
        while not await self._store.add(lock, b"1", ASK_SECONDS):
            await asyncio.sleep(_LOOK_SECONDS)
            found = await self._kept(person)
            if found is not None and found.asked != seen:
                return found.grant
            if loop.time() > end:
                break
        try:
            found = await self._kept(person)
            if found is not None and found.asked != seen:
                return found.grant
            return await self._ask(person, kept)
        finally:
            await self._store.remove(lock)

    async def _ask(self, person: Person, kept: Kept | None) -> Grant:
        for _ in range(_TRIES):
            source, epoch, asked = self.source, await self._epochs.now(), self._clock()
            version = source.version
            try:
                servers = await self._answer(source, person)
            except SourceUnavailable as error:
                return self._in_grace(person, kept, error)
            except SourceRefused as error:
                raise _nobody_knows(person, error) from error
            self._note(self._answered, person.subject, asked)
            grant = Grant(subject=person.subject, servers=servers)
            record = {
                "email": person.email,
                "servers": sorted(servers),
                "version": version,
                "epoch": epoch,
                "asked": asked,
            }
            await self._keep(grant, record)
            # a change meanwhile: this answer is from before it
            if version == self.source.version and await self._epochs.holds(person.email, epoch):
                return grant
        raise _nobody_knows(person, SourceRefused("it changes faster than it can be asked"))

    async def _answer(self, source: Source, person: Person) -> frozenset[str]:
        """The source's answer. What has just not answered is left alone for a second.

        Only being out of reach holds for everybody: else one person's odd name could shut out all.
        """
        for about in (_ANYBODY, person.subject):
            since, why = self._down.get(about, (0.0, ""))
            if 0 <= self._clock() - since < _DOWN_SECONDS:
                raise SourceUnavailable(why)
        try:
            return await source.servers_of(person)
        except SourceUnavailable as error:
            about = _ANYBODY if isinstance(error, SourceAway) else person.subject
            self._note(self._down, about, (self._clock(), str(error)))
            raise

    @staticmethod
    def _note(notes: dict[str, T], about: str, value: T) -> None:
        if len(notes) >= _MOST_NOTED:
            notes.clear()
        notes[about] = value

    async def _keep(self, grant: Grant, record: dict[str, Any]) -> None:
        key = keys.GRANT.key(grant.subject)
        seconds = self._life(grant, None) + self._rules.grace
        sealed = self._seal.seal(key, record, record["asked"] + seconds)
        await self._store.put(key, sealed, seconds)

    def _in_grace(self, person: Person, kept: Kept | None, error: SourceUnavailable) -> Grant:
        # past its end, which is inside the seal, there is no record; and one that a later answer
        # could not replace, because Redis was away just then, is none either
        newest = self._answered.get(person.subject, 0.0)
        if kept is None or self._rules.grace == 0 or kept.asked < newest:
            raise _nobody_knows(person, error) from error
        metrics.DECISIONS.add("in-grace")
        return kept.grant


def _nobody_knows(person: Person, error: Exception) -> Problem:
    detail = str(error)[:200]
    log.warning("entitlements-unavailable", subject=person.subject, detail=detail)
    return Problem(
        ProblemKind.ENTITLEMENTS_UNAVAILABLE,
        "What you may use cannot be found out now.",
        "Try again in a moment; if it stays like this, tell an administrator.",
        reason=detail,
    )
