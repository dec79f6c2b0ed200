"""`GET /`: the person's servers and their pages, and the address for MCP clients."""

from dataclasses import dataclass

from aiohttp import web
from jinja2 import Environment

from services.apphost.relay_answers import ServerEntry
from services.apphost.relay_client import RelayClient
from shared.contracts.problems import ProblemKind
from shared.contracts.wire import APPS_PATH, MCP_PATH
from shared.entitled import Admission
from shared.web import pages
from shared.web.routes import PRINCIPAL

_LABELS: dict[str, str] = {
    ProblemKind.UPSTREAM_UNREACHABLE: "Not reachable",
    ProblemKind.UPSTREAM_TIMEOUT: "Not answering",
    ProblemKind.UPSTREAM_REFUSED: "Refuses us",
    ProblemKind.UPSTREAM_MALFORMED: "Not understood",
    ProblemKind.UPSTREAM_TOO_LARGE: "Answers too much",
}


@dataclass(frozen=True, slots=True)
class Card:
    """One server as it is drawn. `href` only where there is something to open."""

    name: str
    slug: str
    description: str
    kind: str
    label: str
    href: str
    reason: str


def card(server: ServerEntry) -> Card:
    """What a server's card says: its state in words, and why there is nothing to open."""
    if server.state != "ready":
        kind, label = "down", _LABELS.get(server.reason or "", "Not available")
        reason = server.detail or "The server does not answer. Reload to ask it again."
        return Card(server.name, server.slug, server.description, kind, label, "", reason)
    if not server.apps:
        reason = f"This server ships no page. Use its {_count(server.tools, 'tool')} from a client."
        if server.tools == 0:
            reason = "This server offers neither a page nor tools to you."
        return Card(server.name, server.slug, server.description, "quiet", "No page", "", reason)
    reason = ""
    if len(server.apps) > 1:
        titles = ", ".join(app.title for app in server.apps[:4])
        reason = f"{_count(len(server.apps), 'page')}: {titles}"
    href = f"{APPS_PATH}/{server.slug}"
    return Card(server.name, server.slug, server.description, "ready", "Ready", href, reason)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class Home:
    """The console's first page."""

    def __init__(self, admission: Admission, relay: RelayClient, templates: Environment) -> None:
        self._admission = admission
        self._relay = relay
        self._templates = templates

    async def get(self, request: web.Request) -> web.Response:
        """Draw it. Everything on it was decided by the relay for this person, now."""
        who, config = request[PRINCIPAL], self._admission.config
        servers = await self._relay.servers(who)
        return pages.html(
            request,
            self._templates,
            "home.html",
            here="apps",
            cards=[card(server) for server in servers],
            mcp_url=config.public_url + MCP_PATH,
            no_servers=not config.servers,
            administrator=self._admission.administers(who.person),
        )
