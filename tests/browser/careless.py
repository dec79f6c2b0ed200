"""A host that frames pages in a sandbox, but with no policy at all: what gets out there shows that
an attempt is real, and that the sink hears it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import quote

from aiohttp import web

from demo.hostile.page import room

REFUSES_ALL = """<script>
addEventListener("message", ({ source, data }) => {
  const error = { code: -1, message: "no" };
  if (data.id !== undefined) source.postMessage({ jsonrpc: "2.0", id: data.id, error }, "*");
});
</script>"""
SANDBOX = "allow-scripts allow-popups allow-forms"


def careless_host(sink_url: str) -> AbstractAsyncContextManager[str]:
    """The escape room in it; it knows the sink."""
    return careless({"room": room()}, f"?sink={quote(sink_url, safe='')}")


@asynccontextmanager
async def careless(pages: Mapping[str, str], query: str = "") -> AsyncIterator[str]:
    """Its address. `pages`: by a name for each, all in frames at once."""

    async def frame(request: web.Request) -> web.Response:
        text = pages.get(request.match_info["name"])  # a browser also asks for an icon
        return web.Response(text=text or "", content_type="text/html")

    async def host(_: web.Request) -> web.Response:
        frames = (f'<iframe sandbox="{SANDBOX}" src="/{name}{query}"></iframe>' for name in pages)
        return web.Response(text=REFUSES_ALL + "".join(frames), content_type="text/html")

    app = web.Application()
    app.router.add_get("/", host)
    app.router.add_get("/{name}", frame)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await runner.cleanup()
