"""What the console shows of servers: each one's state, its pages and how many tools it has."""

import asyncio
from typing import Any

from services.relay.catalog import Catalog, Listing, ServerSaidNo, as_problem
from services.relay.gate import Way
from services.relay.servers.deadlines import deadline
from services.relay.servers.hello import CONSOLE
from services.relay.servers.pace import Pace
from shared import log
from shared.clock import Clock
from shared.contracts.problems import Problem
from shared.contracts.wire import UI_SCHEME
from shared.decide import reads_only

LOOK_SECONDS = 2.0
KEEP_SECONDS = 5.0

Entry = dict[str, Any]


class Console:
    """Looks at servers, two seconds at most at each."""

    def __init__(self, catalog: Catalog, clock: Clock) -> None:
        self._catalog = catalog
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[float, Entry]] = {}

    async def overview(self, ways: list[Way]) -> list[Entry]:
        """One entry for each server, in the same order."""
        pace = Pace()

        async def one(way: Way) -> Entry:
            async with pace.turn():
                return await self._entry(way)

        return list(await asyncio.gather(*map(one, ways)))

    async def _entry(self, way: Way) -> Entry:
        key = (way.server.slug, way.principal.subject)
        now = self._clock()
        self._kept = {k: v for k, v in self._kept.items() if v[0] > now}
        if key not in self._kept:
            entry = await self._look(way)
            # a server that hangs must not make each page of the console wait again
            self._kept[key] = (self._clock() + KEEP_SECONDS, entry)
            return entry
        return self._kept[key][1]

    async def _look(self, way: Way) -> Entry:
        server = way.server
        entry: Entry = {
            "slug": server.slug,
            "name": server.name,
            "description": server.description,
            "origin": server.origin,
        }
        try:
            async with deadline(server, LOOK_SECONDS):
                listing, resources = await asyncio.gather(self._tools(way), self._resources(way))
        except Problem as problem:
            log.warning("server-unavailable", slug=server.slug, reason=problem.kind)
            detail = f"{problem.title} {problem.advice}".strip()
            state = {"state": "unavailable", "reason": problem.kind.value, "detail": detail}
            return entry | state | {"apps": [], "tools": 0}
        apps = _apps(way, listing, resources)
        ready = {"state": "ready", "reason": None, "detail": None}
        return entry | ready | {"apps": apps, "tools": len(listing.tools)}

    async def _tools(self, way: Way) -> Listing:
        try:
            return await self._catalog.tools(way, CONSOLE)
        except ServerSaidNo as refusal:
            raise as_problem(way, refusal) from refusal

    async def _resources(self, way: Way) -> list[Any]:
        try:
            return await self._catalog.entries(way, CONSOLE, "resources/list", "resources")
        except ServerSaidNo:
            return []  # a server without resources says that it does not know the method


def _apps(way: Way, listing: Listing, resources: list[Any]) -> list[Entry]:
    """The pages that tools declare, in the order of the tools, then listed pages without a tool."""
    apps = []
    for tool in listing.tools:
        facts = listing.facts[tool["name"]]
        if facts.page is not None:
            title = _title(tool) or facts.name
            only_reads = reads_only(way.server.tools, facts)
            apps.append(_app(facts.page, facts.name, title, only_reads))
    declared = {app["uri"] for app in apps}
    for resource in resources:
        uri = resource.get("uri") if isinstance(resource, dict) else None
        if isinstance(uri, str) and uri.startswith(UI_SCHEME) and uri not in declared:
            declared.add(uri)
            name = resource.get("name")
            title = _title(resource) or (name if isinstance(name, str) else uri)
            apps.append(_app(uri, None, title, True))
    return apps


def _app(uri: str, tool: str | None, title: str, read_only: bool) -> Entry:
    return {"uri": uri, "tool": tool, "title": title, "read_only": read_only}


def _title(entry: Entry) -> str:
    annotations = entry.get("annotations")
    hint = annotations.get("title") if isinstance(annotations, dict) else None
    found = entry.get("title") or hint
    return found if isinstance(found, str) else ""
