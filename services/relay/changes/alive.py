"""An open stream lasts as long as the right to it: looked at every few seconds, and when told."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from shared import log
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.stores.kv import StoreUnavailable
from shared.web.problems import problem_of

RECHECK_SECONDS = 15.0
_AT_ONCE = 16

Check = Callable[[], Awaitable[None]]
"""Returns while the caller may go on; else raises the `Problem` that says why not."""


@dataclass(eq=False, slots=True)
class _Held:
    principal: Principal
    check: Check
    limit: asyncio.Timeout
    ended: Problem | None = None


class Watch:
    """Every open stream of this process.

    `most`: seconds between two looks, if that is less. `each`: so many of one person.
    """

    def __init__(self, most: float = RECHECK_SECONDS, each: int = 500) -> None:
        self._most = most
        self._each = each
        self._of: Counter[str] = Counter()
        self._held: set[_Held] = set()
        self._looking: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._held)

    @asynccontextmanager
    async def hold(self, principal: Principal, check: Check) -> AsyncIterator[None]:
        """Everything inside ends with a `Problem` once the right has ended.

        Raises TOO_MANY_REQUESTS when this person has too many open.
        """
        held, subject = None, principal.subject
        if self._of[subject] >= self._each:
            raise _too_many(self._each)
        self._of[subject] += 1
        try:
            async with asyncio.timeout(None) as limit:
                held = _Held(principal, check, limit)
                self._held.add(held)
                try:
                    yield
                finally:
                    self._held.discard(held)
        except TimeoutError:
            if held is None or held.ended is None:
                raise
            raise held.ended from None
        finally:
            self._of[subject] -= 1
            if not self._of[subject]:
                del self._of[subject]

    def look(self, concerns: Callable[[Principal], bool] | None = None) -> None:
        """Look now at the streams of those whom something concerns, or at all of them."""
        chosen = [held for held in self._held if concerns is None or concerns(held.principal)]
        if chosen:
            task = asyncio.create_task(self._look_at(chosen))
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    async def run(self) -> None:
        """Look at all of them every RECHECK_SECONDS or sooner, for ever."""
        while True:
            await asyncio.sleep(min(RECHECK_SECONDS, self._most))
            await self._look_at(list(self._held))

    async def _look_at(self, chosen: Collection[_Held]) -> None:
        room = asyncio.Semaphore(_AT_ONCE)

        async def one(held: _Held) -> None:
            async with room:
                if held in self._held:
                    await self._look_at_one(held)

        await asyncio.gather(*(one(held) for held in chosen))

    async def _look_at_one(self, held: _Held) -> None:
        try:
            await held.check()
        except (Problem, StoreUnavailable) as error:
            ended = problem_of(error)
        except Exception:
            # no doubt keeps a stream open
            log.failure("stream-check-failed")
            ended = problem_of(Exception())
        else:
            return
        if held in self._held and held.ended is None:
            held.ended = ended
            held.limit.reschedule(asyncio.get_running_loop().time())


@dataclass(frozen=True, slots=True)
class Alive:
    """One request's right to go on."""

    watch: Watch
    principal: Principal
    check: Check

    def hold(self) -> AbstractAsyncContextManager[None]:
        """See `Watch.hold`."""
        return self.watch.hold(self.principal, self.check)


def _too_many(most: int) -> Problem:
    title, advice = "You have too many streams open.", f"At most {most} here: close some of them."
    return Problem(ProblemKind.TOO_MANY_REQUESTS, title, advice, "too-many-open", retry_after=1)
