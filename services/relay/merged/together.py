"""Asking all servers of a view: each has its own time, and none spoils what others say."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from services.relay.catalog import ServerSaidNo, as_problem
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers.deadlines import deadline
from services.relay.servers.pace import Pace
from shared import log
from shared.contracts.problems import Problem, ProblemKind
from shared.stores.kv import StoreUnavailable
from shared.web.problems import problem_of

LIST_SECONDS = 5.0
LEFT_OUT_KEY = "strad/left-out"

Ways = dict[str, Way]
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Together(Generic[Found]):
    """What came and what went wrong, by slug in the operator's order."""

    found: dict[str, Found]
    failed: dict[str, Problem]

    @property
    def missing(self) -> rpc.Message:
        """The `_meta` that names who is missing; empty when nobody is."""
        named = [{"server": slug, "reason": cause.kind} for slug, cause in self.failed.items()]
        return {LEFT_OUT_KEY: named} if named else {}

    def check(self) -> None:
        """Raises a `Problem` that names all servers when every one failed: that is no success."""
        if not self.failed or self.found:
            return
        if len(self.failed) == 1:
            raise next(iter(self.failed.values()))
        named = ", ".join(f"{slug} ({cause.kind})" for slug, cause in self.failed.items())
        title = f"None of the servers answers: {named}."
        raise Problem(ProblemKind.UPSTREAM_UNREACHABLE, title, "Try again in a moment.")


async def together(ways: Ways, one: Callable[[Way], Awaitable[Found]]) -> Together[Found]:
    """Ask every server, as many at once as `Pace` has it."""
    pace = Pace()

    async def guarded(way: Way) -> Found | Problem:
        try:
            async with pace.turn(), deadline(way.server, min(LIST_SECONDS, way.server.timeout)):
                return await one(way)
        except ServerSaidNo as refusal:
            return as_problem(way, refusal)
        except Problem as problem:
            return problem
        except StoreUnavailable:
            raise
        except Exception as error:
            # a mistake of ours in the words of one server must not take the others along
            log.failure("server-not-understood", slug=way.server.slug)
            return problem_of(error)

    answers = await asyncio.gather(*(guarded(way) for way in ways.values()))
    found: dict[str, Found] = {}
    failed: dict[str, Problem] = {}
    for slug, answer in zip(ways, answers, strict=True):
        if isinstance(answer, Problem):
            log.warning("server-left-out", slug=slug, reason=answer.kind)
            failed[slug] = answer
        else:
            found[slug] = answer
    return Together(found, failed)
