"""Another site, with every way of leading a person to the console."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

TARGET = "/apps/toys?view=week&token=SECRET#item-3"
WAYS = {
    "link": '<a id="go" href="{to}">go</a>',
    "link without referrer": '<a id="go" rel="noreferrer" href="{to}">go</a>',
    "new tab": '<a id="go" target="_blank" href="{to}">go</a>',
    "window": """<button id="go" onclick="opened = window.open('{to}')">go</button>""",
    "form": '<form action="{to}"><button id="go">go</button></form>',
    "script": '<button id="go" onclick="location = \'{to}\'">go</button>',
    "sandboxed link": (
        "<iframe sandbox='allow-scripts allow-top-navigation' srcdoc='<script>"
        'top.location="{to}"</script>\'></iframe>'
    ),
    "meta refresh": '<meta http-equiv="refresh" content="0;url={to}">',
    "redirect": '<a id="go" href="/redirect">go</a>',
}


@asynccontextmanager
async def elsewhere(console_url: str) -> AsyncIterator[str]:
    """Its address, to be completed with a way: `localhost`, while the console is at 127.0.0.1.

    `&target=` after the way, for another path of the console than TARGET.
    """
    to = console_url + TARGET

    async def page(request: web.Request) -> web.Response:
        target = console_url + request.query.get("target", TARGET)
        text = WAYS[request.query["way"]].format(to=target)
        return web.Response(text=text, content_type="text/html")

    async def redirect(_: web.Request) -> web.Response:
        raise web.HTTPFound(to)

    app = web.Application()
    app.router.add_get("/", page)
    app.router.add_get("/redirect", redirect)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://localhost:{runner.addresses[0][1]}/?way="
    await runner.cleanup()
