"""Calling a tool: decided first, then sent, with the headers that 2026-07-28 wants."""

from typing import Any

from mcp.shared.inbound import (
    mcp_param_headers,
    validate_mcp_param_headers,
    x_mcp_header_map,
)
from mcp_types.jsonrpc import HEADER_MISMATCH, INVALID_PARAMS

from services.relay import policy
from services.relay.audit.trail import Audit
from services.relay.catalog import Asks, Catalog, ServerSaidNo, as_problem
from services.relay.changes.seen import Seen
from services.relay.gate import Way
from services.relay.marks import Marks
from services.relay.messages import rpc
from services.relay.servers.ask import Asker
from services.relay.servers.eras import Era
from services.relay.servers.hello import Hello
from services.relay.servers.progress import Progress
from shared import metrics
from shared.contracts.access import Call, Decision, Denied, Reason
from shared.contracts.wire import Surface
from shared.decide import may_call, tool_exists

_OF_ONE_PAGE = frozenset({Surface.OPEN, Surface.RUN})

# what may be told: the person can see this tool, and why a page cannot use it is no secret
_EXPLAINED = {
    Reason.NOT_VISIBLE_TO_APPS: "The tool {} is not offered to pages.",
    Reason.NOT_DECLARING: "The tool {} does not open this page.",
    Reason.NOT_READ_ONLY: "The tool {} may change something: the person has to run it.",
    Reason.READ_ONLY_TOKEN: "This token may only read: {} may change something.",
    Reason.LOOK_ONLY_SESSION: "This session may look, but not act: sign in to run {}.",
}


class Calls:
    """Decides and makes calls. Methods may raise a `Problem`."""

    def __init__(self, asker: Asker, catalog: Catalog, marks: Marks, audit: Audit) -> None:
        self._asker = asker
        self._catalog = catalog
        self._marks = marks
        self._audit = audit

    async def refusal(
        self,
        way: Way,
        hello: Hello,
        tool: Any,
        surface: Surface,
        page: str | None = None,
        inside: Asks | None = None,
    ) -> rpc.Message | None:
        """Why this call is not made, as the caller hears it; None when it may go ahead.

        A client's call needs the listing only where a policy takes tools away: there, an unlisted
        tool and a denied one must be answered by the same hand. `inside`: as in `Marks.of`.
        """
        if not isinstance(tool, str):
            return rpc.failure(INVALID_PARAMS, "params.name must be the name of a tool")
        decision = await self._decide(way, hello, tool, surface, page)
        if decision.ok and not hello.speaks_apps:
            known = await self._marks.of(way, hello, inside=inside)
            decision = Denied(Reason.FOR_PAGES_ONLY) if tool in known.hidden else decision
        slug = way.server.slug
        if not isinstance(decision, Denied):
            metrics.DECISIONS.add("allowed")
            await self._audit.allowed(way.principal, slug, tool)
            return None
        reason = decision.reason
        metrics.DECISIONS.add(reason)
        await self._audit.denied(way.principal, slug, reason, tool=tool, surface=surface)
        return _spoken(decision, tool)

    async def nowhere(self, name: Any) -> None:
        """Something was asked for by a name that leads to no server of its view."""
        metrics.DECISIONS.add(Reason.NOT_IN_VIEW)
        await self._audit.nowhere(name)

    async def _decide(
        self, way: Way, hello: Hello, tool: str, surface: Surface, page: str | None
    ) -> Decision:
        facts = None
        listed = surface is not Surface.CLIENT or policy.restricts(way.server)
        if listed or way.principal.read_only:
            # no listing is asked for on account of a tool that does not exist
            exists = tool_exists(way.server.tools, tool)
            if isinstance(exists, Denied):
                return exists
            try:
                facts = await self._catalog.tool(way, hello, tool)
            except ServerSaidNo as error:
                raise as_problem(way, error) from error
            if facts is None:
                return Denied(Reason.UNKNOWN_TOOL)
        call = Call(tool, surface, facts)
        decision = may_call(way.principal, way.grant, way.server, call)
        if decision.ok and facts and surface in _OF_ONE_PAGE and facts.page != page:
            return Denied(Reason.NOT_DECLARING)
        return decision

    async def seen(self, way: Way, hello: Hello) -> Seen | None:
        """What this person sees of the tools now; None where no policy takes any away."""
        if not policy.restricts(way.server):
            return None
        seen = Seen(self._catalog, hello)
        await seen.note(way, "tools")
        return seen

    async def call(
        self,
        way: Way,
        hello: Hello,
        params: rpc.Message,
        headers: dict[str, str] | None = None,
        progress: Progress | None = None,
    ) -> rpc.Message:
        """Make a call that was not refused; its answer.

        `headers`: those of a caller of 2026-07-28 that repeat arguments, which an older server
        would not compare. For another caller they are None: a server that wants them says so before
        it runs anything, then they are made from its listing, and the call is sent a second and
        last time.
        """
        ask = self._asker.ask
        if headers is not None and await self._asker.era(way) is Era.LEGACY:
            mismatch = await self._mismatch(way, hello, params, headers)
            if mismatch is not None:
                return mismatch
        answer = await ask(way, hello, "tools/call", params, headers=headers, progress=progress)
        if headers is not None or answer.get("error", {}).get("code") != HEADER_MISMATCH:
            return answer
        try:
            listing = await self._catalog.tools(way, hello.without_answers(), age=0)
        except ServerSaidNo as error:
            return error.answer
        tool = next((t for t in listing.tools if t["name"] == params["name"]), {})
        wanted = x_mcp_header_map(tool.get("inputSchema"))
        made = mcp_param_headers(wanted, _arguments(params))
        return await ask(way, hello, "tools/call", params, headers=made, progress=progress)

    async def _mismatch(
        self, way: Way, hello: Hello, params: rpc.Message, headers: dict[str, str]
    ) -> rpc.Message | None:
        """The refusal of headers that are not what the arguments say (-32020)."""
        name, rejection = params["name"], None
        for young in (False, True):
            schema = (await self._marks.of(way, hello, young=young)).schemas.get(name)
            rejection = validate_mcp_param_headers(schema, _arguments(params), headers)
            if rejection is None:
                return None
        assert rejection is not None
        return rpc.failure(rejection.code, rejection.message)


def _arguments(params: rpc.Message) -> rpc.Message:
    arguments = params.get("arguments")
    return arguments if isinstance(arguments, dict) else {}


def _spoken(decision: Denied, tool: str) -> rpc.Message:
    text = _EXPLAINED.get(decision.reason)
    if text is None:
        return rpc.unknown_tool(tool)
    return rpc.failure(INVALID_PARAMS, text.format(tool[:128]), {"reason": decision.reason})
