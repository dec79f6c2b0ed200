"""The second port: what apphost may ask for a person, in that person's session."""

from functools import partial
from typing import Literal

from aiohttp import web
from pydantic import ConfigDict, Field, ValidationError

from services.relay.audit.trail import Audit
from services.relay.callers.limits import Limits
from services.relay.calls import Calls
from services.relay.catalog import Catalog, ServerSaidNo
from services.relay.changes.alive import Alive, Watch
from services.relay.console import Console
from services.relay.gate import Gate, Way
from services.relay.messages import rpc
from services.relay.questions.people import Questions, check_answers, hello_of, mistake_of
from services.relay.servers.ask import Asker
from services.relay.servers.hello import CONSOLE
from services.relay.servers.progress import Progress
from shared.contracts.access import Reason
from shared.contracts.identity import Frozen, Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import Service, Surface
from shared.entitled import Admission
from shared.stores.sessions import SessionReader
from shared.web import body as incoming
from shared.web.lines import Lines, takes_lines
from shared.web.routes import PRINCIPAL

_LISTS = {"tools/list": "tools", "resources/list": "resources"}


class RpcBody(Frozen):
    """The body of one question. `page`: the `ui://` address that the surface shows, if any."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    method: Literal["tools/list", "resources/list", "resources/read", "tools/call"]
    params: rpc.Message
    surface: Literal["console", "app", "open", "run"]
    page: str | None = Field(None, max_length=2048)


class Internal:
    """GET /internal/v1/servers and POST /internal/v1/servers/{slug}/rpc."""

    def __init__(
        self,
        sessions: SessionReader,
        admission: Admission,
        gate: Gate,
        watch: Watch,
        console: Console,
        catalog: Catalog,
        asker: Asker,
        calls: Calls,
        questions: Questions,
        audit: Audit,
        limits: Limits,
    ) -> None:
        self._sessions = sessions
        self._admission = admission
        self._gate = gate
        self._watch = watch
        self._console = console
        self._catalog = catalog
        self._asker = asker
        self._calls = calls
        self._questions = questions
        self._audit = audit
        self._limits = limits

    async def servers(self, request: web.Request) -> web.Response:
        """The person's servers, each with its state."""
        since = self._watch.looks
        await self._limits.enter(request[PRINCIPAL], None)
        ways = await self._gate.open_all(request[PRINCIPAL])
        async with self._alive(request[PRINCIPAL], ways, since).hold():
            return _json({"servers": await self._console.overview(ways)})

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """One question to one server: 200 with `result` or `error`, or a problem.

        The result of a call from a page or a person may be `input_required`: then the same call is
        sent again with its `requestState` and, if anything was asked, with `inputResponses`.
        A call whose caller takes lines asks for progress: a line `{"progress": {…}}` for each, then
        the same answer as the last line.
        """
        principal, slug = request[PRINCIPAL], request.match_info["slug"]
        since = self._watch.looks
        await self._limits.enter(principal, slug)
        way = await self._gate.open(principal, slug)
        await self._limits.reach(way)
        body = _read(await incoming.read(request))
        message, surface = {"method": body.method, "params": body.params}, Surface(body.surface)
        ask = partial(self._ask, request, way, body, self._alive(principal, [way], since))
        return await self._audit.around(request, way.server.slug, surface, message, ask)

    async def _ask(
        self, request: web.Request, way: Way, body: RpcBody, alive: Alive
    ) -> web.StreamResponse:
        if body.method != "tools/call":
            async with alive.hold():
                return _json(await self._answer(way, body))
        if not takes_lines(request):
            async with alive.hold():
                return _json(await self._call(way, body, None))
        lines = Lines(Service.RELAY, request)

        async def tell(said: rpc.Message) -> None:
            await lines.say(rpc.dumps({"progress": said}))

        async def outcome() -> bytes:
            async with alive.hold():
                return rpc.dumps(await self._call(way, body, Progress(tell)))

        return await lines.end(outcome())

    def _alive(self, principal: Principal, ways: list[Way], since: int) -> Alive:
        """A session that has ended, or a grant, ends what is still at work."""

        async def check(_: str | None) -> None:
            session = await self._sessions.find(principal.digest)
            if session is None or not self._admission.admits(session.person):
                title, reason = "Your session has ended.", Reason.ACCESS_ENDED
                raise Problem(ProblemKind.SIGN_IN_NEEDED, title, "Sign in.", reason)
            for way in ways:
                await self._gate.open(principal, way.server.slug)

        return Alive(self._watch, principal, check, since)

    async def _answer(self, way: Way, body: RpcBody) -> rpc.Message:
        try:
            if body.method == "tools/list":
                return {"result": {"tools": (await self._catalog.tools(way, CONSOLE)).tools}}
            if body.method == "resources/list":
                found = await self._catalog.entries(way, CONSOLE, body.method, "resources")
                return {"result": {"resources": found}}
        except ServerSaidNo as refusal:
            return _outcome(refusal.answer)
        return _outcome(await self._asker.ask(way, CONSOLE, body.method, body.params))

    async def _call(self, way: Way, body: RpcBody, progress: Progress | None) -> rpc.Message:
        tool, surface = body.params.get("name"), Surface(body.surface)
        refusal = await self._calls.refusal(way, CONSOLE, tool, surface, body.page)
        if refusal is not None:
            return refusal
        refusal = self._questions.refusal(body.params)
        if refusal is not None:
            return refusal
        hello = hello_of(surface, body.method)
        answer = await self._calls.call(way, hello, body.params, progress=progress)
        return _outcome(self._questions.stated(way, body.params, answer))


def _read(raw: bytes) -> RpcBody:
    try:
        body = RpcBody.model_validate(rpc.loads_once(raw))
    except (rpc.Unreadable, ValidationError) as error:
        title = "The question to the relay cannot be understood."
        reason = mistake_of(error) if isinstance(error, ValidationError) else str(error)[:300]
        raise Problem(ProblemKind.BAD_REQUEST, title, reason=reason) from error
    if body.surface in {"open", "run"} and body.method != "tools/call":
        title = "On this surface only a tool can be called."
        raise Problem(ProblemKind.BAD_REQUEST, title, reason="surface")
    check_answers(Surface(body.surface), body.method, body.params)
    return body


def _outcome(answer: rpc.Message) -> rpc.Message:
    kept = "error" if "error" in answer else "result"
    return {kept: answer[kept]}


def _json(value: rpc.Message) -> web.Response:
    return web.Response(body=rpc.dumps(value), content_type="application/json")
