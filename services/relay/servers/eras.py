"""Which version a server speaks, asked once and remembered.

A server of 2026-07-28 answers `server/discover`; anything else is an older one. Asking costs an old
server a stray session, so the answer is kept until something fails.
"""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from mcp_types.jsonrpc import (
    HEADER_MISMATCH,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from mcp_types.version import LATEST_MODERN_VERSION

from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers import modern
from services.relay.servers.deadlines import deadline
from services.relay.servers.hello import CONSOLE
from services.relay.servers.upstream import Upstream
from shared import log
from shared.clock import Clock
from shared.contracts.problems import Problem, ProblemKind

KEEP_SECONDS = 600
PROBE_SECONDS = 5
_MODERN_ERRORS = frozenset({HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY})


class Era(StrEnum):
    """The two kinds of server."""

    LEGACY = "legacy"  # a handshake, then requests in a session
    MODERN = "modern"  # each request stands alone


@dataclass(frozen=True, slots=True)
class _Known:
    era: Era
    until: float


class Eras:
    """Remembers the era of each server, in this process."""

    def __init__(self, upstream: Upstream, clock: Clock) -> None:
        self._upstream = upstream
        self._clock = clock
        self._known: dict[str, _Known] = {}
        self._asking: dict[str, asyncio.Task[Era]] = {}

    def known(self, slug: str) -> Era | None:
        """What is remembered of a server."""
        known = self._known.get(slug)
        return known.era if known is not None and known.until > self._clock() else None

    def forget(self, slug: str) -> None:
        """Something failed: ask again next time."""
        self._known.pop(slug, None)

    async def of(self, way: Way) -> Era:
        """The era of a server, asking it if need be. Raises a `Problem` when it does not answer.

        Whoever asks while a question is on its way shares the answer, or the failure: requests to a
        server that hangs must not wait for one another.
        """
        slug = way.server.slug
        era = self.known(slug)
        if era is not None:
            return era
        if slug not in self._asking:
            task = asyncio.create_task(self._learn(way))
            self._asking[slug] = task
            task.add_done_callback(lambda done: self._asked(slug, done))
        return await asyncio.shield(self._asking[slug])

    def _asked(self, slug: str, task: asyncio.Task[Era]) -> None:
        self._asking.pop(slug, None)
        if not task.cancelled():
            task.exception()  # all who wanted to know may have left

    async def _learn(self, way: Way) -> Era:
        era = await self._probe(way)
        self._known[way.server.slug] = _Known(era, self._clock() + KEEP_SECONDS)
        log.event("era", slug=way.server.slug, era=era)
        return era

    async def _probe(self, way: Way) -> Era:
        try:
            async with deadline(way.server, min(PROBE_SECONDS, way.server.timeout)):
                answer = await modern.ask(self._upstream, way, CONSOLE, "server/discover", {})
        except modern.NotModern:
            return Era.LEGACY
        except Problem as problem:
            if problem.kind in {ProblemKind.UPSTREAM_REFUSED, ProblemKind.UPSTREAM_MALFORMED}:
                return Era.LEGACY  # an old server may say no in any way it likes
            raise
        return Era.MODERN if _is_modern(answer) else Era.LEGACY


def _is_modern(answer: rpc.Message) -> bool:
    error = answer.get("error")
    if error is None:
        versions = answer["result"].get("supportedVersions")
    elif rpc.code_of(answer) == UNSUPPORTED_PROTOCOL_VERSION:
        data = error.get("data")
        versions = data.get("supported") if isinstance(data, dict) else None
    else:
        return rpc.code_of(answer) in _MODERN_ERRORS
    return isinstance(versions, list) and LATEST_MODERN_VERSION in versions
