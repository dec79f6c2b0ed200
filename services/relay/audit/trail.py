"""The audit trail of the relay: one entry for each request, filled by the few who know its facts.

The entry of the request at hand lies in a context variable, so that a decision deep inside need not
be carried out by hand. A denial is in the trail before anybody hears of it, and a request begins
only when the trail can take its entry.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from aiohttp import web
from mcp_types import CLIENT_INFO_META_KEY

from services.relay.audit.arguments import canonical, redacted
from services.relay.audit.definitions import Definitions
from services.relay.callers.inbound import Rejected
from services.relay.changes.held import why_ended
from services.relay.messages import rpc
from shared import ids, log
from shared.contracts.access import Reason
from shared.contracts.audit import SESSION_CHARS, Entry, Event
from shared.contracts.fields import is_slug
from shared.contracts.identity import Principal
from shared.contracts.wire import Surface
from shared.stores.audit import Trail
from shared.web.problems import problem_of
from shared.web.routes import NOTED, PRINCIPAL, PROBLEM, REQUEST_ID

_LONGEST = 128
_CURRENT: ContextVar["tuple[Entry, Definitions] | None"] = ContextVar("audited", default=None)


class Audit:
    """Writes the trail. Methods that wait may raise `StoreUnavailable`."""

    def __init__(self, trail: Trail, definitions: Definitions) -> None:
        self._trail = trail
        self._definitions = definitions

    async def around(
        self,
        request: web.Request,
        where: str,
        surface: Surface,
        message: rpc.Message,
        answer: Callable[[], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        """`answer`'s response to a permitted request. `where`: the server, or the view."""
        entry = self._new(Event.REQUEST, request[PRINCIPAL], request[REQUEST_ID])
        entry.server, entry.surface, entry.decision = where, surface, "allowed"
        self._describe(entry, message)
        entry.bytes_in = request.content_length
        await self._trail.room()
        self._trail.soon(entry)
        before, started = _CURRENT.set((entry, self._definitions)), time.perf_counter()
        try:
            response = await answer()
            entry.status, entry.bytes_out = response.status, _size(response)
            if (told := request.get(PROBLEM)) is not None:
                # told in a stream that had begun with another status
                entry.outcome, entry.reason = told.kind, why_ended(told) or entry.reason
            return response
        except asyncio.CancelledError:
            entry.outcome = "caller-left"
            raise
        except Rejected as rejected:
            entry.outcome, entry.status = "rejected", rejected.status
            raise
        except Exception as error:
            problem = problem_of(error)
            entry.outcome, entry.status = problem.kind, problem.status
            entry.reason = why_ended(problem) or entry.reason
            raise
        finally:
            _CURRENT.reset(before)
            entry.ms = round((time.perf_counter() - started) * 1000, 1)
            self._trail.end(entry)
            request[NOTED] = entry.line()

    async def allowed(self, principal: Principal, slug: str, tool: str) -> None:
        """The request at hand calls this tool, and may. A press on Run is in the trail by now."""
        if (current := _CURRENT.get()) is not None:
            self._name(current[0], principal, slug, tool)
            if current[0].surface == Surface.RUN:
                await self._trail.begin(current[0])

    async def denied(
        self,
        principal: Principal,
        slug: str | None,
        reason: Reason,
        *,
        tool: str | None = None,
        surface: Surface | None = None,
    ) -> None:
        """Something is refused: it stands in the trail when this returns."""
        current = _CURRENT.get()
        alone = current is None or current[0].done
        if current is None or alone:
            entry = self._new(Event.DENIED, principal, ids.new_id())
        else:
            entry = current[0]
        entry.event, entry.decision, entry.reason = Event.DENIED, "denied", reason
        if slug is not None:
            # what a caller writes there can be anything, a token among it
            entry.server = slug if is_slug(slug) else "(no slug)"
        if tool is not None and slug is not None:
            self._name(entry, principal, slug, tool)
        entry.surface = surface or entry.surface
        await self._trail.now(entry)
        if alone:
            log.event("denied", **entry.line())

    async def nowhere(self, name: Any) -> None:
        """The request at hand names something of no server that it may see: in the trail by now."""
        if (current := _CURRENT.get()) is not None:
            entry, _ = current
            entry.event, entry.decision, entry.reason = Event.DENIED, "denied", Reason.NOT_IN_VIEW
            entry.tool = name[:_LONGEST] if isinstance(name, str) else None
            await self._trail.now(entry)

    async def close(self) -> None:
        """Write what still waits."""
        await self._trail.close()

    def _new(self, event: Event, principal: Principal, number: str) -> Entry:
        return Entry(
            event,
            number,
            round(self._trail.clock(), 3),
            subject=principal.subject,
            email=principal.person.email,
            session=principal.digest[:SESSION_CHARS],
        )

    def _name(self, entry: Entry, principal: Principal, slug: str, tool: str) -> None:
        entry.server, entry.tool = slug, tool[:_LONGEST]
        entry.definition = self._definitions.of(slug, principal.subject, tool)

    def _describe(self, entry: Entry, message: rpc.Message) -> None:
        method, params = message.get("method"), message.get("params", {})
        entry.method = method[:_LONGEST] if isinstance(method, str) else None
        meta = params.get("_meta")
        _introduce(entry, meta.get(CLIENT_INFO_META_KEY) if isinstance(meta, dict) else None)
        _introduce(entry, params.get("clientInfo"))
        given = params.get("arguments") if method == "tools/call" else _rest(params)
        if given:
            text = canonical(given)
            entry.arguments = None if text is None else self._trail.digest(text)
            if self._trail.rules.arguments and text is not None:
                entry.given = redacted(given)


def client_of(params: rpc.Message) -> None:
    """The request at hand comes in a session that this `initialize` began."""
    if (current := _CURRENT.get()) is not None:
        _introduce(current[0], params.get("clientInfo"))


def asked(slug: str, method: str) -> None:
    """The request at hand is passed on to one server of its view."""
    current = _CURRENT.get()
    if current is not None and current[0].method == method and not method.endswith("/list"):
        current[0].server = slug


def heard(answer: rpc.Message) -> None:
    """A server's answer to the request at hand."""
    current = _CURRENT.get()
    if current is None:
        return
    entry, definitions = current
    result, error = answer.get("result"), answer.get("error")
    if isinstance(result, dict):
        entry.outcome = "tool-error" if result.get("isError") is True else "result"
        if entry.method == "tools/list" and entry.server and entry.subject:
            definitions.learn(entry.server, entry.subject, result.get("tools"))
    elif isinstance(error, dict):
        entry.outcome = "error"


def _introduce(entry: Entry, info: Any) -> None:
    if isinstance(info, dict) and isinstance(info.get("name"), str):
        version = info.get("version")
        text = f"{info['name']} {version}" if isinstance(version, str) else info["name"]
        entry.client = text[:_LONGEST]


def _rest(params: rpc.Message) -> rpc.Message:
    return {name: value for name, value in params.items() if name not in {"_meta", "clientInfo"}}


def _size(response: web.StreamResponse) -> int:
    if isinstance(response, web.Response) and isinstance(response.body, bytes):
        return len(response.body)
    return response.body_length
