"""What a URL shows: one server with its own names, or several with prefixed ones."""

from dataclasses import replace
from typing import NamedTuple

from aiohttp import web

from services.relay.changes.alive import Alive
from services.relay.gate import Gate, Way
from shared.contracts import scopes
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.web.routes import PRINCIPAL

_PARAMETER = "servers"
ALL = "all"
MAX_SLUGS = 64


class View(NamedTuple):
    """The ways of one person behind one URL. `name` is the same for URLs that show the same.

    `merged`: names carry their server's slug, however many servers there are, so that a name never
    changes when another server comes or goes.
    """

    subject: str
    ways: tuple[Way, ...]
    merged: bool
    name: str


async def view_of(gate: Gate, request: web.Request) -> View:
    """`/mcp/<slug>` and `/mcp?servers=<slug>`: one. `/mcp` and `/mcp?servers=a,b`: merged.

    Raises NOT_FOUND when any named server is unknown or not permitted.
    """
    principal = request[PRINCIPAL]
    subject = principal.subject
    names = named(request)
    if names is None:
        return View(subject, tuple(await gate.open_all(principal)), merged=True, name=ALL)
    if len(names) == 1:
        way = await gate.open(principal, names[0])
        return View(subject, (way,), merged=False, name=f"one:{names[0]}")
    ways = {way.server.slug: way for way in await gate.open_all(principal)}
    await _refuse(gate, principal, [name for name in names if name not in ways])
    chosen = tuple(way for slug, way in ways.items() if slug in names)
    listed = ",".join(way.server.slug for way in chosen)
    return View(subject, chosen, merged=True, name=f"some:{listed}")


def named_alone(request: web.Request) -> str | None:
    """The one server that a URL names, if it names one; it may not exist."""
    slug: str | None = request.match_info.get("slug")
    if slug is not None:
        return slug
    values = request.query.getall(_PARAMETER, [])
    return values[0] if len(values) == 1 and "," not in values[0] else None


async def _refuse(gate: Gate, principal: Principal, missing: list[str]) -> None:
    """Refuse what is missing by the gate's one rule, and what no other token would open first."""
    curable = None
    for name in missing:
        try:
            await gate.open(principal, name)
        except Problem as problem:
            if problem.reason != scopes.INSUFFICIENT:
                raise
            curable = problem
    if curable is not None:
        raise curable


def named(request: web.Request) -> list[str] | None:
    """The servers that a URL names; None when it is for all of them. Raises BAD_REQUEST."""
    slug = request.match_info.get("slug")
    if slug is not None:
        return [slug]
    values = request.query.getall(_PARAMETER, None)
    if values is None:
        return None
    names = list(dict.fromkeys(",".join(values).split(",")))
    if not all(names) or len(names) > MAX_SLUGS:
        title = "The list of servers cannot be understood."
        advice = "Write ?servers=one or ?servers=one,two, or leave it out for all of them."
        raise Problem(ProblemKind.BAD_REQUEST, title, advice)
    return names


def lasting(gate: Gate, view: View, alive: Alive) -> Alive:
    """`alive` for as long as the view would show the very servers that it shows.

    For streams of changes: a server that comes or goes is one. A call is not ended by it.
    """

    async def check(about: str | None) -> None:
        await alive.check(about)
        now = await gate.open_all(alive.principal) if view.name == ALL else view.ways
        if [way.server.slug for way in now] != [way.server.slug for way in view.ways]:
            title = "The servers that you may use have changed."
            raise Problem(ProblemKind.FORBIDDEN, title, "Connect again.", reason="other-servers")

    return replace(alive, check=check)
