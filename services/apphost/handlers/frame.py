"""`GET /apps/<slug>/frame`: the server's own page, in a sandbox made of headers. Never a redirect:
the frame's policy would follow it to any path of ours, with cookies and our origin."""

from typing import Any

from aiohttp import web
from jinja2 import Environment

from services.apphost import csp, document, policy_facts
from services.apphost.discovery import find_pages, find_resources
from services.apphost.page import Page, read_page, ui_meta
from services.apphost.relay_answers import no_such_server
from services.apphost.relay_client import RelayClient, RpcError
from shared import log
from shared.contracts.config import Config
from shared.contracts.fields import is_slug
from shared.contracts.identity import Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import APPS_PATH, UI_SCHEME
from shared.web.origin import started_here
from shared.web.problems import Render
from shared.web.routes import PRINCIPAL, REQUEST_ID

_NOT_THERE = frozenset({-32002, -32602})  # "resource not found", before and since 2026-07-28
_MAX_URI = 2048
_ASTRAY = frozenset({ProblemKind.FORBIDDEN, ProblemKind.SIGN_IN_NEEDED})


async def guard(request: web.Request) -> None:
    """Only the host's own iframe, or a person's own visit.

    A frame that loads its own route again comes as "cross-site" (its origin is opaque), so this
    is what keeps a second document away from the bridge.
    """
    dest = request.headers.getall("Sec-Fetch-Dest", [])
    site = request.headers.getall("Sec-Fetch-Site", [])
    if dest == ["iframe"] and site == ["same-origin"]:
        return
    if dest == ["document"] and started_here(request):
        return
    title = "This page opens inside the console only."
    raise Problem(ProblemKind.FORBIDDEN, title, "Open the app from there.", "not-our-frame")


class Frame:
    """Reads a page through the relay and serves it."""

    def __init__(self, config: Config, relay: RelayClient) -> None:
        self._config = config
        self._relay = relay

    async def get(self, request: web.Request) -> web.Response:
        """The document. The query's first `uri` names it; the rest of the query is the page's."""
        who, slug = request[PRINCIPAL], request.match_info["slug"]
        uri = request.query.get("uri")
        if uri is None:
            _, found = await find_pages(self._relay, self._config, who, slug)
            uri = found[0].uri
        if not uri.startswith(UI_SCHEME) or len(uri) > _MAX_URI:
            raise _no_page()
        page = await self._read(who, slug, uri)
        server = self._config.server(slug)
        if server is None:
            raise no_such_server(slug)
        ui = page.ui if page.ui is not None else await self._listed(who, slug, uri)
        origins = csp.declared(ui, self._config.host)
        log.event(
            "frame-policy",
            slug=slug,
            page=page.digest,
            origins=origins.accepted,
            dropped=origins.dropped,
            scripts=server.app.scripts,
        )
        headers = csp.frame_headers(origins.accepted, server.app)
        came = ("The server's page", f"{len(page.html)} bytes, SHA-256 {page.digest}")
        told = [came, *policy_facts.facts(origins, ui, server.app)]
        headers["Server-Timing"] = policy_facts.header(told, ui)
        return web.Response(body=document.wrap(page.html, server.app), headers=headers)

    async def _read(self, who: Principal, slug: str, uri: str) -> Page:
        try:
            result = await self._relay.rpc(who, slug, "resources/read", {"uri": uri})
        except RpcError as error:
            if error.error.get("code") in _NOT_THERE:
                raise _no_page() from error
            title = "The server refused to give its page."
            advice = f"It said: {str(error)[:200]}"
            raise Problem(ProblemKind.UPSTREAM_REFUSED, title, advice) from error
        return read_page(result)

    async def _listed(self, who: Principal, slug: str, uri: str) -> dict[str, Any]:
        """`_meta.ui` of the listing: read only when the page itself brought none."""
        for item in await find_resources(self._relay, who, slug):
            if item["uri"] == uri:
                return ui_meta(item) or {}
        return {}


def frame_renderer(templates: Environment, public_url: str) -> Render:
    """Problems inside a frame: the frame's own headers, and an address to read for who is astray.

    Chromium lets no link leave a document under `Connection-Allowlist: ()`. A person who came here
    directly gets a page of ours alone, and its link may lead to that one address.
    """

    async def render(request: web.Request, problem: Problem) -> web.Response:
        href = ""
        if problem.kind in _ASTRAY:  # inside the host page it is clear what else to do
            href = f"{public_url}{APPS_PATH}/{request.match_info['slug']}"
        visit = request.headers.getall("Sec-Fetch-Dest", []) == ["document"]
        text = templates.get_template("frame_problem.html").render(
            status=problem.status,
            title=problem.title,
            advice=problem.advice,
            href=href,
            request_id=request[REQUEST_ID],
        )
        headers = csp.frame_headers(way_out=href if visit else "")
        return web.Response(body=text.encode(), status=problem.status, headers=headers)

    return render


async def elsewhere(request: web.Request) -> web.Response:
    """Any other method, and any address that only begins like a frame's: no, in a frame's headers.

    aiohttp's own 404 and 405 belong to no route, and so would come in those of the console.
    """
    if request.match_info["rest"] or not is_slug(request.match_info["slug"]):
        raise web.HTTPNotFound
    raise web.HTTPMethodNotAllowed(request.method, ["GET"])


def _no_page() -> Problem:
    title = "The server has no such page."
    return Problem(ProblemKind.NOT_FOUND, title, "Open the app from the console.", "no-such-page")
