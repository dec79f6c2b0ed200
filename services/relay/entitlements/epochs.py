"""Which kept grants still count, once somebody has said that something changed.

A counter in Redis goes up with every such word. A grant carries the count from before its source
was asked, so one that was asked for before the word, and stored after it, is known for what it is.
Replicas learn of a word by a message. Who misses one sees it by the count, which is read twice a
second, and then believes no older grant of anybody.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable

from shared import keys, log
from shared.clock import Clock
from shared.signing import Seal
from shared.stores.kv import KeyValue, StoreUnavailable

SURE_SECONDS = 1.0
_POLL_SECONDS = SURE_SECONDS / 2
_KEEP_SECONDS = 30 * 86400
_MOST_PEOPLE = 10_000
_KEY = keys.GRANT.key("epoch")

Heard = Callable[[str | None], None]
"""Gets whom a word is about: `Epochs.who`, or None for everybody."""


class Epochs:
    """The count as this replica knows it, and the least one that a person's grant must carry."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._current: int | None = None
        self._least = 0
        self._least_of: dict[str, int] = {}
        self._sure_at = 0.0
        self.heard: Heard = lambda _: None

    def who(self, email: str) -> str:
        """A person in messages: no address is told."""
        return self._seal.digest("person", email.lower())

    async def now(self) -> int:
        """The count in Redis. May raise `StoreUnavailable`."""
        before, asked = self._current, self._clock()
        value = await self._store.get(_KEY)
        try:
            count = int(value or 0)
        except ValueError:  # anything can stand in Redis
            count = 0
        if self._current is not None and self._current != before and count < self._current:
            return self._current  # a word came while this was on its way
        if count != self._current:
            # a word was missed, or the counter was lost; at the start all of them were
            missed, self._current, self._least = self._current is not None, count, count
            self._least_of.clear()
            if missed:
                self.heard(None)
        self._sure_at = asked  # what it says may be as old as the question
        return count

    async def holds(self, email: str, epoch: int) -> bool:
        """Whether a grant with this count still counts. May raise `StoreUnavailable`."""
        known = self._current
        if known is None or epoch > known or abs(self._clock() - self._sure_at) > SURE_SECONDS:
            known = await self.now()
        if not self._least <= epoch <= known:
            return False
        return not self._least_of or self._least_of.get(self.who(email), 0) <= epoch

    async def void(self, email: str | None = None) -> None:
        """Say that what is known of one person, or of all, has changed. Call it after the change.

        May raise `StoreUnavailable`; then nobody was told.
        """
        count = await self._store.count(_KEY, _KEEP_SECONDS)
        who = None if email is None else self.who(email)
        self._void(count, who)
        with contextlib.suppress(StoreUnavailable):  # the others see it by the count
            message = json.dumps({"count": count, "who": who}).encode()
            await self._store.publish(keys.GRANTS_CHANGED.name, message)

    async def hear(self) -> None:
        """Listen for words of other replicas, for ever."""
        async for message in self._store.hear(keys.GRANTS_CHANGED.name):
            if message is None:
                continue  # what was missed shows in the count
            try:
                told = json.loads(message)
                count, who = int(told["count"]), told["who"]
            except (ValueError, KeyError, TypeError, OverflowError):
                log.warning("grants-message-malformed")
                continue
            self._void(count, who if isinstance(who, str) else None)

    async def poll(self) -> None:
        """Keep the count current, for ever."""
        while True:
            with contextlib.suppress(StoreUnavailable):
                await self.now()
            await asyncio.sleep(_POLL_SECONDS)

    def _void(self, count: int, who: str | None) -> None:
        known = self._current
        if known is None or count <= known:
            return  # its own, or seen by the count already
        if count > known + 1 or who is None or len(self._least_of) >= _MOST_PEOPLE:
            self._least, who = count, None
            self._least_of.clear()
        else:
            self._least_of[who] = count
        self._current = count
        self.heard(who)
