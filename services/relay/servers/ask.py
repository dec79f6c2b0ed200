"""Asking a server one thing, whatever version it speaks."""

from mcp_types import SERVER_INFO_META_KEY

from services.relay.audit.trail import asked, heard
from services.relay.callers.limits import Limits
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.questions.states import StateRefused, States
from services.relay.servers import modern
from services.relay.servers.deadlines import deadline
from services.relay.servers.eras import Era, Eras
from services.relay.servers.hello import Hello
from services.relay.servers.legacy import HandshakeRefused
from services.relay.servers.pool import Pool
from services.relay.servers.progress import Progress
from services.relay.servers.upstream import Upstream
from shared.contracts.problems import Problem, ProblemKind

_CHANGED = frozenset(
    {
        ProblemKind.UPSTREAM_UNREACHABLE,
        ProblemKind.UPSTREAM_REFUSED,
        ProblemKind.UPSTREAM_MALFORMED,
    }
)


DISCOVER = "server/discover"


class Asker:
    """Requests of the relay's own: for the console, the merged view, and between versions."""

    def __init__(
        self, upstream: Upstream, eras: Eras, pool: Pool, states: States, limits: Limits
    ) -> None:
        self._limits = limits
        self._upstream = upstream
        self._eras = eras
        self._pool = pool
        self._states = states

    async def ask(
        self,
        way: Way,
        hello: Hello,
        method: str,
        params: rpc.Message,
        *,
        headers: dict[str, str] | None = None,
        progress: Progress | None = None,
    ) -> rpc.Message:
        """The answer, with `result` or `error`, in time. Raises a `Problem` when there is none.

        `server/discover` is answered for servers of either kind, in one form: `capabilities`,
        `serverInfo` and, if given, `instructions`.
        `headers`: `Mcp-Param-*` for a call. `progress`: hears of the work, which may then take
        longer. A `requestState` is opened for the server and sealed for whoever asks.
        """
        try:
            opened = self._states.opened(way, method, params)
        except StateRefused as refused:
            return refused.outcome
        asked(way.server.slug, method)
        await self._limits.reach(way)
        try:
            async with deadline(way.server) as limit:
                if progress is not None:
                    progress.during(limit, way.server)
                answer = await self._ask(way, hello, method, opened, headers, progress)
                heard(answer)
        except Problem as problem:
            if problem.kind in _CHANGED:
                self._eras.forget(way.server.slug)
            raise
        return self._states.sealed(way, method, params, answer)

    async def era(self, way: Way) -> Era:
        """Which kind of server this is. Raises a `Problem` when it does not say in time."""
        async with deadline(way.server):
            return await self._eras.of(way)

    async def _ask(
        self,
        way: Way,
        hello: Hello,
        method: str,
        params: rpc.Message,
        headers: dict[str, str] | None,
        progress: Progress | None,
    ) -> rpc.Message:
        for last in (False, True):
            try:
                if await self._eras.of(way) is Era.MODERN:
                    answer = await modern.ask(
                        self._upstream, way, hello, method, params, headers, progress
                    )
                    return _introduction(way, answer) if method == DISCOVER else answer
                if method == DISCOVER:
                    session = await self._pool.session(way, hello)
                    return _introduction(way, {"result": session.result})
                return await self._pool.ask(way, hello, method, params, progress)
            except (modern.NotModern, HandshakeRefused) as error:
                # nothing was run: the server did not take the request at all
                self._eras.forget(way.server.slug)
                if last and isinstance(error, HandshakeRefused):
                    return error.answer
        title = f"{way.server.name} changes the version that it speaks."
        raise Problem(ProblemKind.UPSTREAM_MALFORMED, title, "Tell its owner.")


def _introduction(way: Way, answer: rpc.Message) -> rpc.Message:
    """How a server presents itself, from `server/discover` or from `initialize`."""
    result = answer.get("result")
    if not isinstance(result, dict):
        return answer
    meta = result.get("_meta")
    info = meta.get(SERVER_INFO_META_KEY) if isinstance(meta, dict) else None
    given = result.get("capabilities")
    found: rpc.Message = {
        "capabilities": given if isinstance(given, dict) else {},
        "serverInfo": info or result.get("serverInfo") or {"name": way.server.slug, "version": ""},
    }
    if "instructions" in result:
        found["instructions"] = result["instructions"]
    return {"result": found}
