"""Something at work, or open, that lasts as long as the right to it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Protocol

from shared import log
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem
from shared.stores.kv import StoreUnavailable
from shared.web.problems import problem_of

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


class Keeper(Protocol):
    """Who looks after all of them: see `alive.Watch`."""

    looks: int

    def add(self, held: "Held") -> None:
        """Raises TOO_MANY_REQUESTS."""

    def remove(self, held: "Held") -> None:
        """It has come to its end."""

    def __contains__(self, held: object) -> bool: ...


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

    def __init__(self, watch: "Keeper", principal: Principal, check: Check, since: int) -> None:
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
        """End it if it may not go on. Raises `StoreUnavailable` when that cannot be known."""
        try:
            await self._check(self.about)
        except StoreUnavailable:
            raise
        except Problem as problem:
            self.end(problem)
        except Exception as error:
            log.failure("stream-check-failed")
            self.end(problem_of(error))

    def end(self, why: Problem) -> None:
        """From now on nothing comes of it."""
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
