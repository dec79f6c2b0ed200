"""What each call needs to know of a server's list of tools: little, and so kept longer than it.

Whether a tool is for pages only, which callers without MCP Apps must not call (SEP-1865,
"visibility"), and which arguments a caller of 2026-07-28 repeats in headers. What a server changes
in these holds for calls after KEEP_SECONDS, or GRACE_SECONDS while its list cannot be had; the list
itself is never older than the catalog's.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

from mcp.shared.inbound import x_mcp_header_map
from mcp_types.jsonrpc import METHOD_NOT_FOUND

from services.relay.catalog import YOUNG_SECONDS, Asks, Catalog, ServerSaidNo, as_problem
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers.hello import Hello
from services.relay.servers.legacy import Legacy, Session
from shared.clock import Clock
from shared.contracts.problems import Problem

KEEP_SECONDS = 60.0
AGAIN_SECONDS = 10.0
GRACE_SECONDS = 600.0
MAX_KEPT = 10_000

_Key = tuple[str, str, bool]


@dataclass(frozen=True, slots=True)
class Known:
    """`hidden`: the tools that this caller may not call. `schemas`: where headers are wanted.

    `taken`: when. `until`: how long nobody asks again.
    """

    hidden: frozenset[str]
    schemas: dict[str, Any]
    taken: float
    until: float


class InSession:
    """Asks in a session that somebody else has opened."""

    def __init__(self, legacy: Legacy, session: Session) -> None:
        self._legacy = legacy
        self._session = session

    async def ask(self, way: Way, _: Hello, method: str, params: rpc.Message) -> rpc.Message:
        """The answer, with `result` or `error`. Raises `SessionLost`, or a `Problem`."""
        return await self._legacy.ask(way, self._session, method, params)


class Marks:
    """Remembers by server, person and whether the caller speaks Apps. Raises a `Problem`."""

    def __init__(self, catalog: Catalog, clock: Clock) -> None:
        self._catalog = catalog
        self._clock = clock
        self._kept: OrderedDict[_Key, Known] = OrderedDict()
        self._asking: dict[_Key, asyncio.Task[Known]] = {}

    async def of(
        self,
        way: Way,
        hello: Hello,
        *,
        young: bool = False,
        inside: Asks | None = None,
    ) -> Known:
        """What is known. Who asks at once shares one listing.

        `young`: for somebody who seems to know better. `inside`: asks in the session that the
        caller has with the server: no second one is opened.
        """
        key = (way.server.slug, way.principal.subject, hello.speaks_apps)
        known, now = self._kept.get(key), self._clock()
        if known is not None and now < (known.taken + YOUNG_SECONDS if young else known.until):
            return known
        try:
            return await self._fresh(key, way, hello, inside)
        except Problem:
            if known is None or self._clock() > known.taken + GRACE_SECONDS:
                raise
            # a list that fails for a while must not hold up each call, nor stop them all
            self._kept[key] = replace(known, until=self._clock() + AGAIN_SECONDS)
            return known

    async def _fresh(self, key: _Key, way: Way, hello: Hello, inside: Asks | None) -> Known:
        if inside is not None:
            return await self._learn(self._catalog.through(inside), key, way, hello)
        if key not in self._asking:
            task = asyncio.create_task(self._learn(self._catalog, key, way, hello))
            self._asking[key] = task
            task.add_done_callback(lambda done: self._asked(key, done))
        return await asyncio.shield(self._asking[key])

    def _asked(self, key: _Key, task: asyncio.Task[Known]) -> None:
        self._asking.pop(key, None)
        if not task.cancelled():
            task.exception()  # all who wanted to know may have left

    async def _learn(self, catalog: Catalog, key: _Key, way: Way, hello: Hello) -> Known:
        try:
            listing = await catalog.tools(way, hello.without_answers(), age=YOUNG_SECONDS)
        except ServerSaidNo as refusal:
            if refusal.answer["error"].get("code") != METHOD_NOT_FOUND:
                raise as_problem(way, refusal) from refusal
            hidden, wanted = frozenset[str](), {}  # it lists no tools: none is for pages
        else:
            schemas = {tool["name"]: tool.get("inputSchema") for tool in listing.tools}
            wanted = {name: schema for name, schema in schemas.items() if x_mcp_header_map(schema)}
            hidden = listing.hidden
        now = self._clock()
        known = Known(hidden, wanted, now, now + KEEP_SECONDS)
        self._kept[key] = known
        self._kept.move_to_end(key)
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return known
