"""`GET /apps/<slug>`: the host's bar and the place of the frame. `web/host.js` does the rest."""

from typing import Any

from aiohttp import web
from jinja2 import Environment

from services.apphost import csp, fields, policy_facts
from services.apphost.discovery import AppPage, find_pages
from services.apphost.introduction import introduction, shown
from services.apphost.modules import Modules
from services.apphost.relay_client import RelayClient
from shared.contracts.config import Config, Server
from shared.contracts.identity import SessionKind
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import APPS_PATH
from shared.web import pages
from shared.web.routes import PRINCIPAL


class HostPage:
    """Shows one page of one server, or a choice when there are several."""

    def __init__(
        self, config: Config, relay: RelayClient, templates: Environment, modules: Modules
    ) -> None:
        self._config = config
        self._relay = relay
        self._templates = templates
        self._modules = modules

    async def get(self, request: web.Request) -> web.Response:
        """Draw it. The query's first `uri` picks a page; one that the server lacks is 404."""
        who, slug = request[PRINCIPAL], request.match_info["slug"]
        server, found = await find_pages(self._relay, self._config, who, slug)
        wanted = request.query.get("uri")
        if wanted is None and len(found) > 1:
            return self._choose(request, server, found)
        page = found[0] if wanted is None else _pick(found, wanted)
        look_only = who.session_kind is SessionKind.TOKEN
        response = pages.html(
            request,
            self._templates,
            "app.html",
            server=server,
            page=page,
            writes=policy_facts.listed(page.writes),
            boot=_boot(server, page, look_only=look_only),
            module=self._modules.address,
            preload=self._modules.host_scripts(),
        )
        response.headers.update(csp.host_headers(self._config.public_url, slug))
        return response

    def _choose(self, request: web.Request, server: Server, found: list[AppPage]) -> web.Response:
        return pages.html(
            request,
            self._templates,
            "choose.html",
            here="apps",
            server=server,
            found=found,
            base=f"{APPS_PATH}/{server.slug}",
        )


def _pick(found: list[AppPage], uri: str) -> AppPage:
    for page in found:
        if page.uri == uri:
            return page
    title = "This server has no such page."
    raise Problem(ProblemKind.NOT_FOUND, title, "Open it from your apps instead.", "no-such-page")


def _boot(server: Server, page: AppPage, *, look_only: bool) -> dict[str, Any]:
    """What the host's script needs to know (`Boot` in web/types.d.ts)."""
    tool = shown(page.tool) if page.tool is not None else None
    schema = page.tool.get("inputSchema") if page.tool is not None else None
    return {
        "name": server.name,
        "page": page.uri,
        "frame": f"{APPS_PATH}/{server.slug}/frame",
        "call": f"{APPS_PATH}/{server.slug}/tools/call",
        "reads": f"{APPS_PATH}/{server.slug}",
        "sandbox": csp.SANDBOX,
        "introduction": introduction(tool, look_only=look_only),
        "tool": tool["name"] if tool is not None else None,
        "fields": fields.of_tool(schema),
        "defaults": fields.defaults(schema),
        "remedies": policy_facts.REMEDIES,
        "readOnly": page.read_only,
        "lookOnly": look_only,
    }
