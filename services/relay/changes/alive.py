"""What is at work or open lasts as long as the right to it: looked at every few seconds, and when
told.
"""

import asyncio
from collections.abc import Callable, Collection
from contextvars import Context
from dataclasses import dataclass

from services.relay.changes.held import Check, Held
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.stores.kv import StoreUnavailable
from shared.web.problems import problem_of

RECHECK_SECONDS = 15.0
DOUBT_SECONDS = 10.0
_AGAIN_SECONDS = 0.5
_AT_ONCE = 16


class Watch:
    """Everything of this process that is at work for somebody, or open.

    `most`: seconds between two looks, if that is less. `each`: so many of one person.
    """

    def __init__(self, most: float = RECHECK_SECONDS, each: int = 500) -> None:
        self.looks = 0
        self._most = most
        self._each = each
        self._of: dict[str, int] = {}
        self._held: set[Held] = set()
        self._looking: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, held: object) -> bool:
        return held in self._held

    def add(self, held: Held) -> None:
        """Raises TOO_MANY_REQUESTS when this person has too many."""
        subject = held.principal.subject
        count = self._of.get(subject, 0)
        if count >= self._each:
            raise _too_many(self._each)
        self._of[subject] = count + 1
        self._held.add(held)

    def remove(self, held: Held) -> None:
        """It has come to its end."""
        subject = held.principal.subject
        self._held.discard(held)
        self._of[subject] -= 1
        if not self._of[subject]:
            del self._of[subject]

    def look(self, concerns: Callable[[Principal], bool] | None = None) -> None:
        """Look now at what those have at work whom something concerns, or at everything."""
        self.looks += 1
        chosen = [held for held in self._held if concerns is None or concerns(held.principal)]
        if chosen:
            # not in the context of a request that happens to be the first to learn of a change
            task = asyncio.create_task(self._look_at(chosen), context=Context())
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    async def run(self) -> None:
        """Look at all of them every RECHECK_SECONDS or sooner, for ever."""
        while True:
            await asyncio.sleep(min(RECHECK_SECONDS, self._most))
            await self._look_at(list(self._held))

    async def _look_at(self, chosen: Collection[Held]) -> None:
        """While the store is away nobody can tell, and nothing can be told: then look again, and
        keep nothing open beyond DOUBT_SECONDS of it.
        """
        until = asyncio.get_running_loop().time() + DOUBT_SECONDS
        while in_doubt := await self._round(chosen):
            if asyncio.get_running_loop().time() > until:
                for held in in_doubt:
                    held.end(problem_of(StoreUnavailable()))
                return
            await asyncio.sleep(_AGAIN_SECONDS)
            chosen = in_doubt

    async def _round(self, chosen: Collection[Held]) -> list[Held]:
        """Look at each once; those of which nothing can be known."""
        room, in_doubt = asyncio.Semaphore(_AT_ONCE), list[Held]()

        async def one(held: Held) -> None:
            async with room:
                try:
                    # what one cannot know for want of the store, none of the others can
                    if held in self and not in_doubt:
                        await held.look()
                        return
                except StoreUnavailable:
                    pass
            if held in self:
                in_doubt.append(held)

        await asyncio.gather(*(one(held) for held in chosen))
        return in_doubt


@dataclass(slots=True)
class Alive:
    """One request's right to go on. `since`: the watch's `looks` when the request came."""

    watch: Watch
    principal: Principal
    check: Check
    since: int

    def hold(self) -> Held:
        """A context manager around what needs the right. Raises a `Problem`, see `Held`."""
        return Held(self.watch, self.principal, self.check, self.since)


def _too_many(most: int) -> Problem:
    title, advice = "You have too much open at once.", f"At most {most} here: close some of it."
    return Problem(ProblemKind.TOO_MANY_REQUESTS, title, advice, "too-many-open", retry_after=1)
