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

from services.relay.audit.definitions import Definitions
from services.relay.audit.described import LONGEST, describe, introduce
from services.relay.callers.inbound import Rejected
from services.relay.changes.held import why_ended
from services.relay.messages import rpc
from shared import ids, log
from shared.contracts.access import Reason
from shared.contracts.audit import SESSION_CHARS, Entry, Event, Logged
from shared.contracts.fields import is_slug
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem
from shared.contracts.wire import Surface
from shared.stores.audit import Trail
from shared.web.problems import problem_of
from shared.web.routes import NOTED, PRINCIPAL, PROBLEM, REQUEST_ID

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
        kept, logged = entry.kept, entry.logged
        logged["server"], logged["surface"], logged["decision"] = where, surface.value, "allowed"
        size = request.content_length
        describe(entry, message, self._trail, size)
        if size is not None:
            logged["bytes_in"] = size
        await self._trail.room()
        self._trail.soon(entry)
        before, started = _CURRENT.set((entry, self._definitions)), time.perf_counter()
        try:
            response = await answer()
            kept["status"], logged["bytes_out"] = response.status, _size(response)
            if (told := request[PROBLEM]) is not None:
                # told in a stream that had begun with another status
                _failed(logged, told)
            return response
        except asyncio.CancelledError:
            logged["outcome"] = "caller-left"
            raise
        except Rejected as rejected:
            logged["outcome"], kept["status"] = "rejected", rejected.status
            raise
        except Exception as error:
            problem = problem_of(error)
            kept["status"] = problem.status
            _failed(logged, problem)
            raise
        finally:
            _CURRENT.reset(before)
            kept["ms"] = round((time.perf_counter() - started) * 1000, 1)
            self._trail.end(entry)
            request[NOTED] = entry.line

    async def allowed(self, principal: Principal, slug: str, tool: str) -> None:
        """The request at hand calls this tool, and may. A press on Run is in the trail by now."""
        if (current := _CURRENT.get()) is not None:
            entry, _ = current
            self._name(entry.logged, principal, slug, tool)
            if entry.logged["surface"] == Surface.RUN:
                await self._trail.begin(entry)

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
        logged = _denied(entry, reason)
        if slug is not None:
            # what a caller writes there can be anything, a token among it
            logged["server"] = slug if is_slug(slug) else "(no slug)"
        if tool is not None and slug is not None:
            self._name(logged, principal, slug, tool)
        if surface is not None:
            logged["surface"] = surface
        await self._trail.now(entry)
        if alone:
            log.event("denied", **logged)

    async def nowhere(self, name: Any) -> None:
        """The request at hand names something of no server that it may see: in the trail by now."""
        if (current := _CURRENT.get()) is not None:
            logged = _denied(current[0], Reason.NOT_IN_VIEW)
            if isinstance(name, str):
                logged["tool"] = name[:LONGEST]
            await self._trail.now(current[0])

    async def close(self) -> None:
        """Write what still waits."""
        await self._trail.close()

    def _new(self, event: Event, principal: Principal, number: str) -> Entry:
        at, email = round(self._trail.clock(), 3), principal.person.email
        return Entry(
            {"event": event.value, "id": number, "time": at, "email": email},
            {"subject": principal.subject, "session": principal.digest[:SESSION_CHARS]},
        )

    def _name(self, logged: Logged, principal: Principal, slug: str, tool: str) -> None:
        logged["server"], logged["tool"] = slug, tool[:LONGEST]
        definition = self._definitions.of(slug, principal.subject, tool)
        if definition is not None:
            logged["definition"] = definition


def client_of(params: rpc.Message) -> None:
    """The request at hand comes in a session that this `initialize` began."""
    if (current := _CURRENT.get()) is not None:
        introduce(current[0].logged, params.get("clientInfo"))


def asked(slug: str, method: str) -> None:
    """The request at hand is passed on to one server of its view."""
    if (current := _CURRENT.get()) is not None and not method.endswith("/list"):
        entry, _ = current
        if entry.kept.get("method") == method:
            entry.logged["server"] = slug


def heard(answer: rpc.Message) -> None:
    """A server's answer to the request at hand."""
    current = _CURRENT.get()
    if current is None:
        return
    entry, definitions = current
    logged = entry.logged
    result, error = answer.get("result"), answer.get("error")
    if isinstance(result, dict):
        logged["outcome"] = "tool-error" if result.get("isError") is True else "result"
        if entry.kept.get("method") == "tools/list":
            definitions.learn(logged["server"], logged["subject"], result.get("tools"))
    elif isinstance(error, dict):
        logged["outcome"] = "error"


def _denied(entry: Entry, reason: Reason) -> Logged:
    entry.kept["event"] = Event.DENIED
    entry.logged["decision"], entry.logged["reason"] = "denied", reason
    return entry.logged


def _failed(logged: Logged, problem: Problem) -> None:
    logged["outcome"] = problem.kind
    if reason := why_ended(problem):
        logged["reason"] = reason


def _size(response: web.StreamResponse) -> int:
    if isinstance(response, web.Response) and isinstance(response.body, bytes):
        return len(response.body)
    return response.body_length
