"""POST /mcp from a caller of 2026-07-28: every request stands alone."""

from typing import Any

from aiohttp import web
from mcp_types import SERVER_INFO_META_KEY
from mcp_types.jsonrpc import INVALID_PARAMS
from mcp_types.methods import CACHEABLE_METHODS, is_input_required
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from services.relay.bridge import Bridge
from services.relay.callers import inbound
from services.relay.callers.answered import answered
from services.relay.calls import Calls
from services.relay.changes.alive import Alive
from services.relay.changes.changes import LISTEN
from services.relay.handlers.listen import Listen
from services.relay.merged.introduction import SERVER_INFO
from services.relay.merged.merge import Merge
from services.relay.messages import rpc
from services.relay.passage import Passage
from services.relay.questions.states import StateRefused
from services.relay.servers import logs
from services.relay.servers.ask import DISCOVER, Asker
from services.relay.servers.deadlines import deadline
from services.relay.servers.eras import Era, Eras
from services.relay.servers.hello import Hello, of_request
from services.relay.servers.modern import NotModern
from services.relay.servers.progress import Progress
from services.relay.servers.upstream import passed_on
from services.relay.views import View
from shared.contracts.problems import Problem
from shared.contracts.wire import Surface

# "no such resource" of servers of 2025: a code that must not be used any more, and mcp 1.x's 0
_NOT_FOUND_BEFORE = frozenset({-32002, 0})


class Modern:
    """Answers one message. Raises `Rejected` or a `Problem`."""

    def __init__(
        self,
        eras: Eras,
        passage: Passage,
        bridge: Bridge,
        merge: Merge,
        calls: Calls,
        asker: Asker,
        listen: Listen,
    ) -> None:
        self._eras = eras
        self._passage = passage
        self._bridge = bridge
        self._merge = merge
        self._calls = calls
        self._asker = asker
        self._listen = listen

    async def post(
        self, request: web.Request, view: View, raw: bytes, message: rpc.Message, alive: Alive
    ) -> web.StreamResponse:
        """One message on one view."""
        inbound.check_modern(request, message)
        if "id" not in message:
            return web.Response(status=202)  # this version defines none that a server would act on
        inbound.check_name(message)
        method, params = message["method"], message["params"]
        hello = of_request(params["_meta"])
        if not view.merged:
            return await self._one(request, view, raw, message, hello, alive)
        if method == LISTEN:
            return await self._listen.answer(request, view, hello, message, alive)
        given = inbound.repeated(request)

        async def merged(progress: Progress | None) -> web.Response:
            answer = self._merge.answer
            async with alive.hold():
                outcome = await answer(view, hello, method, params, given, progress)
            return _finished(message, outcome, SERVER_INFO)

        return await answered(request, message, merged, logs.of_request(params))

    async def _one(
        self,
        request: web.Request,
        view: View,
        raw: bytes,
        message: rpc.Message,
        hello: Hello,
        alive: Alive,
    ) -> web.StreamResponse:
        way, method, params = view.ways[0], message["method"], message["params"]
        era = self._eras.known(way.server.slug)
        if era is None:
            async with deadline(way.server):
                era = await self._eras.of(way)
        if era is Era.MODERN:
            if method == "tools/call":
                tool = params["name"]
                refusal = await self._calls.refusal(way, hello, tool, Surface.CLIENT)
                if refusal is not None:
                    return _finished(message, refusal, None)
            try:
                seen = await self._calls.seen(way, hello) if method == LISTEN else None
                post, passed = self._passage.post, passed_on(request.headers)
                return await post(request, way, hello, raw, message, passed, alive, seen)
            except StateRefused as refused:
                return _finished(message, refused.outcome, None)
            except NotModern as error:
                self._eras.forget(way.server.slug)
                if await self._eras.of(way) is Era.MODERN:
                    return _finished(message, {"error": error.answer["error"]}, None)
            except Problem:
                self._eras.forget(way.server.slug)
                raise

        if method == LISTEN:
            return await self._listen.answer(request, view, hello, message, alive)
        given = inbound.repeated(request)

        async def bridged(progress: Progress | None) -> web.Response:
            # asked before the request: what fails afterwards would hide an outcome
            async with alive.hold():
                introduction = await self._asker.ask(way, hello, DISCOVER, {})
                answer = self._bridge.answer
                outcome = await answer(way, hello, method, params, given, progress)
            return _finished(message, outcome, introduction.get("result", {}).get("serverInfo"))

        return await answered(request, message, bridged, logs.of_request(params))


def _finished(message: rpc.Message, outcome: rpc.Message, server: Any) -> web.Response:
    """The answer in the form of 2026-07-28: result type, cache hints, server, status."""
    method = message["method"]
    if "error" in outcome:
        outcome = {"error": _error(message, outcome)}
    else:
        outcome = {"result": _result(method, outcome["result"], server)}
    return rpc.answer(message["id"], outcome, rpc.modern_status(outcome))


def _result(method: str, given: rpc.Message, server: Any) -> rpc.Message:
    result = {"resultType": "complete", **given}
    if method in CACHEABLE_METHODS and not is_input_required(result):
        # what one person may see is nobody else's, whatever the server thinks of its own lists
        result = {"ttlMs": 0, **result, "cacheScope": "private"}
    if method == DISCOVER:
        del result["serverInfo"]
        result["supportedVersions"] = list(MODERN_PROTOCOL_VERSIONS)
    if isinstance(server, dict):
        meta = result.get("_meta")
        # of whom the caller was introduced to: in a merged view that is strad
        result["_meta"] = {**(meta if isinstance(meta, dict) else {}), SERVER_INFO_META_KEY: server}
    return result


def _error(message: rpc.Message, outcome: rpc.Message) -> rpc.Message:
    error: rpc.Message = outcome["error"]
    if message["method"] != "resources/read" or rpc.code_of(outcome) not in _NOT_FOUND_BEFORE:
        return error
    data = error.get("data", {})
    if isinstance(data, dict):
        data = {"uri": message["params"]["uri"], **data}
    return {**error, "code": INVALID_PARAMS, "data": data}
