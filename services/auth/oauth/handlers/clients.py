"""/auth/clients: the clients that a person has connected. List and end."""

from dataclasses import dataclass

from aiohttp import web

from services.auth.acting import may_change, require_change
from services.auth.oauth.parts import OAUTH
from services.auth.oauth.records import Allowed
from services.auth.parts import PARTS
from services.auth.token_pages import choices, day
from services.auth.trail import note
from shared import log
from shared.contracts.audit import Event
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import CLIENTS_PATH
from shared.web.pages import html
from shared.web.routes import PRINCIPAL


@dataclass(frozen=True, slots=True)
class Row:
    """One client in the list, in words."""

    id: str
    name: str
    host: str
    servers: str
    access: str
    connected: str
    used: str
    ends: str


async def show(request: web.Request) -> web.Response:
    """GET: the list."""
    parts, oauth, principal = request.app[PARTS], request.app[OAUTH], request[PRINCIPAL]
    names = {one.slug: one.name for one in choices(parts.config, principal.person.email)}
    found = await oauth.store.of(principal.subject)
    return html(
        request,
        parts.pages,
        "oauth_clients.html",
        clients=[_row(one, await oauth.store.used(one), names) for one in found],
        ended="ended" in request.query,
        may_change=may_change(principal),
        address=f"{parts.config.public_url}/mcp",
        here="clients",
    )


async def end(request: web.Request) -> web.Response:
    """POST: end what one client may do. Somebody else's is as unknown as one that never was."""
    parts, oauth, principal = request.app[PARTS], request.app[OAUTH], request[PRINCIPAL]
    require_change(principal)
    wanted = request.match_info["id"]
    mine = {one.id: one for one in await oauth.store.of(principal.subject)}
    if wanted not in mine:
        title = "You have no such client."
        raise Problem(ProblemKind.NOT_FOUND, title, "Perhaps it has ended: look at the list.")
    await note(
        parts.trail, Event.CLIENT_ENDED, principal.person, digest=principal.digest, token=wanted
    )
    await oauth.store.end(mine[wanted])
    log.event("client-ended", subject=principal.subject, allowed=wanted)
    return web.Response(status=303, headers={"Location": f"{CLIENTS_PATH}?ended"})


def _row(allowed: Allowed, used: int, names: dict[str, str]) -> Row:
    servers = allowed.servers
    return Row(
        id=allowed.id,
        name=allowed.client.name or "A client without a name",
        host=allowed.client.id.split("/")[2] if allowed.client.document else "",
        servers="All of yours"
        if servers is None
        else ", ".join(names.get(slug, slug) for slug in servers),
        access="Read only" if allowed.read_only else "Read and change",
        connected=day(allowed.created),
        used=day(used),
        ends=day(allowed.expires),
    )
