"""Several servers as one: their tools, named `slug__name`, and the pages that these declare."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from mcp_types.jsonrpc import INVALID_PARAMS

from services.relay import names, rpc
from services.relay.ask import DISCOVER, Asker
from services.relay.bridge import unknown_method
from services.relay.calls import Calls
from services.relay.catalog import Catalog, ServerSaidNo, as_problem
from services.relay.gate import Way
from services.relay.hello import Hello
from services.relay.merged_pages import with_pages
from services.relay.progress import Progress
from services.relay.upstream import deadline
from shared import log
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import UI_SCHEME, Surface

LIST_SECONDS = 5.0
LEFT_OUT_KEY = "strad/left-out"
SERVER_INFO = {"name": "strad", "title": "strad", "version": "1"}

Ways = dict[str, Way]


class Merge:
    """Answers in place of several servers. Methods may raise a `Problem`."""

    def __init__(self, asker: Asker, catalog: Catalog, calls: Calls) -> None:
        self._asker = asker
        self._catalog = catalog
        self._calls = calls

    async def answer(
        self,
        ways: tuple[Way, ...],
        hello: Hello,
        method: str,
        params: rpc.Message,
        headers: dict[str, str] | None = None,
        progress: Progress | None = None,
    ) -> rpc.Message:
        """The outcome of one request: `result` or `error`. `progress` hears of a call's."""
        by_slug = {way.server.slug: way for way in ways}
        if method == DISCOVER:
            return await self._introduce(by_slug, hello)
        if method in {"tools/list", "resources/list"} and "cursor" in params:
            return rpc.failure(INVALID_PARAMS, "This list has one page: leave `cursor` out")
        if method == "tools/list":
            return await self._tools(by_slug, hello)
        if method == "resources/list":
            return await self._resources(by_slug, hello)
        if method == "tools/call":
            return await self._call(by_slug, hello, params, headers, progress)
        if method == "resources/read":
            return await self._read(by_slug, hello, params)
        return unknown_method(method)

    async def _introduce(self, ways: Ways, hello: Hello) -> rpc.Message:
        async def one(way: Way) -> rpc.Message:
            answer = await self._asker.ask(way, hello, DISCOVER, {})
            if "error" in answer:
                raise ServerSaidNo(answer)
            capabilities: rpc.Message = answer["result"]["capabilities"]
            return capabilities

        found, _ = await _each(ways, one)
        extensions: rpc.Message = {}
        for given in found.values():
            extra = given.get("extensions")
            extensions |= extra if isinstance(extra, dict) else {}
        capabilities: rpc.Message = {"tools": {}, "resources": {}}
        if extensions:
            capabilities["extensions"] = extensions
        listed = ", ".join(f"{slug} ({way.server.name})" for slug, way in ways.items())
        text = f"Each tool's name begins with the server that it belongs to: {listed or 'none'}."
        return {
            "result": {
                "capabilities": capabilities,
                "serverInfo": SERVER_INFO,
                "instructions": text,
            }
        }

    async def _tools(self, ways: Ways, hello: Hello) -> rpc.Message:
        async def one(way: Way) -> list[Any]:
            listing = await self._catalog.tools(way, hello, age=0)
            slug = way.server.slug
            return [
                with_pages(slug, {**tool, "name": names.expose(slug, tool["name"])})
                for tool in listing.tools
            ]

        return _joined("tools", *await _each(ways, one))

    async def _resources(self, ways: Ways, hello: Hello) -> rpc.Message:
        async def one(way: Way) -> list[Any]:
            try:
                found = await self._catalog.entries(way, hello, "resources/list", "resources")
            except ServerSaidNo:
                return []  # a server without resources says that it does not know the method
            return [with_pages(way.server.slug, page) for page in found if _is_page(page)]

        return _joined("resources", *await _each(ways, one))

    async def _call(
        self,
        ways: Ways,
        hello: Hello,
        params: rpc.Message,
        headers: dict[str, str] | None,
        progress: Progress | None,
    ) -> rpc.Message:
        name = params["name"]
        parts = names.split(name)
        way = ways.get(parts[0]) if parts is not None else None
        if way is None or parts is None:
            return rpc.unknown_tool(name)
        tool: str | None = parts[1]
        if names.expose(*parts) != name:
            tool = await self._find(way, hello, name)
        if tool is None:
            return rpc.unknown_tool(name)
        if await self._calls.refusal(way, hello, tool, Surface.CLIENT) is not None:
            return rpc.unknown_tool(name)
        named = {**params, "name": tool}
        answer = await self._calls.call(way, hello, named, headers, progress)
        return _outcome(way, answer)

    async def _find(self, way: Way, hello: Hello, name: str) -> str | None:
        try:
            listing = await self._catalog.tools(way, hello)
        except ServerSaidNo as refusal:
            raise as_problem(way, refusal) from refusal
        return names.find(name, way.server.slug, listing.facts)

    async def _read(self, ways: Ways, hello: Hello, params: rpc.Message) -> rpc.Message:
        uri = params["uri"]
        parts = names.split_uri(uri)
        way = ways.get(parts[0]) if parts is not None else None
        if way is None or parts is None:
            return rpc.failure(INVALID_PARAMS, f"Unknown resource: {uri}", {"uri": uri})
        answer = await self._asker.ask(way, hello, "resources/read", {**params, "uri": parts[1]})
        return _outcome(way, answer)


async def _each(
    ways: Ways, one: Callable[[Way], Awaitable[Any]]
) -> tuple[dict[str, Any], dict[str, Problem]]:
    """Ask every server at once: what came, and what went wrong, by slug in the operator's order."""

    async def guarded(way: Way) -> Any:
        try:
            async with deadline(way.server, min(LIST_SECONDS, way.server.timeout)):
                return await one(way)
        except ServerSaidNo as refusal:
            return as_problem(way, refusal)
        except Problem as problem:
            return problem

    answers = await asyncio.gather(*(guarded(way) for way in ways.values()))
    found: dict[str, Any] = {}
    failed: dict[str, Problem] = {}
    for slug, answer in zip(ways, answers, strict=True):
        if isinstance(answer, Problem):
            log.warning("server-left-out", slug=slug, reason=answer.kind)
            failed[slug] = answer
        else:
            found[slug] = answer
    return found, failed


def _joined(member: str, found: dict[str, list[Any]], failed: dict[str, Problem]) -> rpc.Message:
    """One list of all; it names the servers that are missing, and is no list when all are."""
    if failed and not found:
        one = next(iter(failed.values()))
        title = one.title if len(failed) == 1 else f"None of {len(failed)} servers answers."
        raise Problem(ProblemKind.UPSTREAM_UNREACHABLE, title, "Try again in a moment.")
    result: rpc.Message = {member: [entry for entries in found.values() for entry in entries]}
    if failed:
        missing = [{"server": slug, "reason": cause.kind} for slug, cause in failed.items()]
        result["_meta"] = {LEFT_OUT_KEY: missing}
    return {"result": result}


def _outcome(way: Way, answer: rpc.Message) -> rpc.Message:
    if "error" in answer:
        return {"error": answer["error"]}
    return {"result": with_pages(way.server.slug, answer["result"])}


def _is_page(entry: Any) -> bool:
    uri = entry.get("uri") if isinstance(entry, dict) else None
    return isinstance(uri, str) and uri.startswith(UI_SCHEME)
