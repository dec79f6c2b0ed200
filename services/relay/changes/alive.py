"""What is at work or open lasts as long as the right to it: looked at every few seconds, and when
told.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from contextvars import Context, ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from shared import log
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.stores.kv import StoreUnavailable
from shared.web.problems import problem_of

RECHECK_SECONDS = 15.0
_AT_ONCE = 16
_STOPPED = "What was still at work was stopped: see what came of it before you try again."

Check = Callable[[str | None], Awaitable[None]]
"""Returns while the caller may go on; else raises the `Problem` that says why not.

Gets the slug of the server that all of this is about; None: every server that it can reach.
"""


class Ended(Problem):
    """The right has ended while something was at work."""


def why_ended(problem: Problem) -> str | None:
    """The name of the reason why a right has ended; of another problem the reason is no name."""
    return problem.reason or None if isinstance(problem, Ended) else None


class Held:
    """Everything inside ends with `Ended` once the right has ended, and so does what it returns."""

    __slots__ = (
        "_before",
        "_cancelling",
        "_check",
        "_since",
        "_task",
        "_watch",
        "about",
        "ended",
        "principal",
    )

    def __init__(self, watch: "Watch", principal: Principal, check: Check, since: int) -> None:
        self.principal = principal
        self.about: str | None = None
        self.ended: Ended | None = None
        self._watch = watch
        self._check = check
        self._since = since
        self._task: asyncio.Task[Any] | None = None
        self._cancelling = 0
        self._before: Token[Held | None] | None = None

    async def __aenter__(self) -> None:
        while self._since != self._watch.looks:
            # something was said before this was there to be looked at
            self._since = self._watch.looks
            await self._check(None)
        self._watch.add(self)
        self._task = asyncio.current_task()
        assert self._task is not None
        self._cancelling = self._task.cancelling()
        self._before = _CURRENT.set(self)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._before is not None
        assert self._task is not None
        _CURRENT.reset(self._before)
        self._watch.remove(self)
        if self.ended is None:
            return
        called_off = self._task.uncancel() > self._cancelling  # by somebody else besides
        if kind is None or (kind is asyncio.CancelledError and not called_off):
            raise self.ended from None

    async def look(self) -> None:
        """Whether it may go on."""
        try:
            await self._check(self.about)
        except (Problem, StoreUnavailable) as error:
            why = problem_of(error)
        except Exception:
            # no doubt keeps anything open
            log.failure("stream-check-failed")
            why = problem_of(Exception())
        else:
            return
        if self.ended is None and self in self._watch and self._task is not None:
            self.ended = Ended(why.kind, why.title, why.advice or _STOPPED, why.reason)
            self._task.cancel()


_CURRENT: ContextVar[Held | None] = ContextVar("held", default=None)


def about(slug: str) -> None:
    """From here on the request at hand is about this server alone: what ends elsewhere is nothing
    to it.
    """
    held = _CURRENT.get()
    if held is not None:
        held.about = slug


class Watch:
    """Everything of this process that is at work for somebody, or open.

    `most`: seconds between two looks, if that is less. `each`: so many of one person.
    """

    def __init__(self, most: float = RECHECK_SECONDS, each: int = 500) -> None:
        self.looks = 0
        self._most = most
        self._each = each
        self._of: Counter[str] = Counter()
        self._held: set[Held] = set()
        self._looking: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, held: object) -> bool:
        return held in self._held

    def add(self, held: Held) -> None:
        """Raises TOO_MANY_REQUESTS when this person has too many."""
        subject = held.principal.subject
        if self._of[subject] >= self._each:
            raise _too_many(self._each)
        self._of[subject] += 1
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
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(held: Held) -> None:
            async with room:
                if held in self:
                    await held.look()

        await asyncio.gather(*(one(held) for held in chosen))


@dataclass(frozen=True, slots=True)
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
