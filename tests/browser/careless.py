"""A host that frames the escape room in a sandbox, but with no policy at all: what gets out there
shows that an attempt is real, and that the sink hears it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

from aiohttp import web

from demo.hostile.page import room

REFUSES_ALL = """<script>
addEventListener("message", ({ source, data }) => {
  const error = { code: -1, message: "no" };
  if (data.id !== undefined) source.postMessage({ jsonrpc: "2.0", id: data.id, error }, "*");
});
</script>"""


@asynccontextmanager
async def careless_host(sink_url: str) -> AsyncIterator[str]:
    """Its address. The page in it knows the sink."""

    async def frame(_: web.Request) -> web.Response:
        return web.Response(text=room(), content_type="text/html")

    async def host(_: web.Request) -> web.Response:
        source = f"/room?sink={quote(sink_url, safe='')}"
        text = f'<iframe sandbox="allow-scripts allow-popups allow-forms" src="{source}"></iframe>'
        return web.Response(text=REFUSES_ALL + text, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", host)
    app.router.add_get("/room", frame)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await runner.cleanup()
