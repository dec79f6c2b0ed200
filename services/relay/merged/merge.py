"""Several servers as one, whatever each speaks: each request goes to the server that it names."""

from typing import Any

from mcp_types.jsonrpc import INVALID_PARAMS

from services.relay.bridge import unknown_method
from services.relay.calls import Calls
from services.relay.catalog import Catalog
from services.relay.changes.held import about
from services.relay.gate import Way
from services.relay.merged import exposed
from services.relay.merged.cursors import CursorRefused, Cursors
from services.relay.merged.introduction import introduce
from services.relay.merged.merged_lists import LISTS, MergedLists
from services.relay.merged.together import Ways
from services.relay.merged.where import Nowhere, Where
from services.relay.messages import rpc
from services.relay.servers.ask import DISCOVER, Asker
from services.relay.servers.hello import Hello
from services.relay.servers.progress import Progress
from services.relay.views import View
from shared.contracts.wire import Surface


class Merge:
    """Answers in place of several servers. Methods may raise a `Problem`."""

    def __init__(self, asker: Asker, catalog: Catalog, calls: Calls, cursors: Cursors) -> None:
        self._asker = asker
        self._calls = calls
        self._lists = MergedLists(catalog, cursors)
        self._where = Where(catalog, self._lists)

    async def answer(
        self,
        view: View,
        hello: Hello,
        method: str,
        params: rpc.Message,
        headers: dict[str, str] | None = None,
        progress: Progress | None = None,
    ) -> rpc.Message:
        """The outcome of one request: `result` or `error`. `progress` hears of its work."""
        ways = {way.server.slug: way for way in view.ways}
        try:
            if method in LISTS:
                return await self._lists.page(view, hello, method, params.get("cursor"))
            if method == DISCOVER:
                return await introduce(self._asker, ways, hello)
            if method == "tools/call":
                return await self._call(ways, hello, params, headers, progress)
            if method == "prompts/get":
                return await self._prompt(ways, hello, params, progress)
            if method == "resources/read":
                return await self._read(ways, hello, params, progress)
            if method == "completion/complete":
                return await self._complete(ways, hello, params)
        except CursorRefused as refused:
            return refused.outcome
        except Nowhere as nowhere:
            await self._calls.nowhere(params.get("name"))
            return nowhere.outcome
        return unknown_method(method)

    async def _call(
        self,
        ways: Ways,
        hello: Hello,
        params: rpc.Message,
        headers: dict[str, str] | None,
        progress: Progress | None,
    ) -> rpc.Message:
        name = params["name"]
        way, own = await self._where.tool(ways, hello, name)
        about(way.server.slug)
        refused = await self._calls.refusal(way, hello, own, Surface.CLIENT)
        if refused is not None:
            return (
                refused if "reason" in refused["error"].get("data", {}) else rpc.unknown_tool(name)
            )
        named = {**params, "name": own}
        answer = await self._calls.call(way, hello, named, headers, progress)
        return _outcome(answer, lambda result: exposed.called(way.server.slug, result))

    async def _prompt(
        self, ways: Ways, hello: Hello, params: rpc.Message, progress: Progress | None
    ) -> rpc.Message:
        way, own = await self._where.prompt(ways, hello, params["name"])
        about(way.server.slug)
        named = {**params, "name": own}
        answer = await self._asker.ask(way, hello, "prompts/get", named, progress=progress)
        return _outcome(answer, lambda result: exposed.prompted(way.server.slug, result))

    async def _read(
        self, ways: Ways, hello: Hello, params: rpc.Message, progress: Progress | None
    ) -> rpc.Message:
        way, own = await self._where.resource(ways, hello, params["uri"])
        about(way.server.slug)
        named = {**params, "uri": own}
        answer = await self._asker.ask(way, hello, "resources/read", named, progress=progress)
        if own == params["uri"]:
            return _outcome(answer, lambda result: result)  # to whom it is known by its own name
        if "error" in answer:
            return {"error": exposed.refused(way.server.slug, answer["error"], own)}
        return {"result": exposed.read(way.server.slug, answer["result"])}

    async def _complete(self, ways: Ways, hello: Hello, params: rpc.Message) -> rpc.Message:
        ref = params.get("ref")
        given = ref if isinstance(ref, dict) else {}
        kind, name, uri = (given.get(key) for key in ("type", "name", "uri"))
        way: Way
        if kind == "ref/prompt" and isinstance(name, str):
            way, own = await self._where.prompt(ways, hello, name)
            named = {**given, "name": own}
        elif kind == "ref/resource" and isinstance(uri, str):
            way, own = self._where.template(ways, uri)
            named = {**given, "uri": own}
        else:
            return rpc.failure(INVALID_PARAMS, "params.ref must name a prompt or a resource")
        about(way.server.slug)
        asked = {**params, "ref": named}
        answer = await self._asker.ask(way, hello, "completion/complete", asked)
        return _outcome(answer, lambda result: result)


def _outcome(answer: rpc.Message, shown: Any) -> rpc.Message:
    if "error" in answer:
        return {"error": answer["error"]}
    return {"result": shown(answer["result"])}
