"""The guard of `/apps/<slug>`: another site's link gets a page that asks, and runs nothing.

The session cookie is SameSite=Lax, so it comes along on such a link. The guard runs before anybody
is identified: the answer is made from the address alone and is the same for everyone. It never
reloads itself, which would turn "another site" into "same origin".
"""

from urllib.parse import urlencode

from aiohttp import web
from jinja2 import Environment

from services.apphost.modules import Modules
from shared.contracts.wire import APPS_PATH
from shared.web import pages
from shared.web.origin import started_here

_TOKEN = "token"  # noqa: S105 - the name of a parameter


class OpenPage:
    """Asks before an app opens."""

    def __init__(self, templates: Environment, modules: Modules) -> None:
        self._templates = templates
        self._modules = modules

    async def guard(self, request: web.Request) -> web.Response | None:
        """None: the person, or a page of ours, came here. Else the page that asks."""
        if started_here(request):
            return None
        slug = request.match_info["slug"]
        query = urlencode([(n, v) for n, v in request.query.items() if n != _TOKEN])
        response = pages.html(
            request,
            self._templates,
            "open.html",
            slug=slug,
            href=f"{APPS_PATH}/{slug}" + (f"?{query}" if query else ""),
            script=self._modules.address("open.js"),
        )
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Vary"] = "Sec-Fetch-Site"
        return response
