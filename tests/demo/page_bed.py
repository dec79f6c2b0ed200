"""A page in a frame of a plain host, whose answers a test writes in Python."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, Frame, Page

HOST = """<!doctype html><meta charset="utf-8"><title>host</title>
<style>html,body,iframe{margin:0;width:100%;height:100%;border:0;display:block}</style>
<iframe id="app" SANDBOX></iframe>
<script>
  const frame = document.getElementById("app");
  window.toApp = (message) => frame.contentWindow.postMessage(message, "*");
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow || typeof data?.method !== "string") return;
    for (const message of await window.hostAnswers(data)) window.toApp(message);
  });
  frame.src = "/frame" + location.search;
</script>
"""
STRICT = {
    "Content-Security-Policy": "sandbox allow-scripts; default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    "Connection-Allowlist": "()",
    "Referrer-Policy": "no-referrer",
}

Message = dict[str, Any]
Call = Callable[[str, dict[str, Any]], Awaitable[Message]]


@dataclass
class Host:
    """Answers a page as an MCP Apps host does; tool calls go to `call`.

    `call` gets a tool's name and arguments, and gives `{"result": …}` or `{"error": …}`.
    """

    call: Call
    opening: str | None = None
    context: dict[str, Any] = field(default_factory=dict)
    heard: list[Message] = field(default_factory=list)

    async def __call__(self, message: Message) -> list[Message]:
        self.heard.append(message)
        method, params, ident = message["method"], message.get("params") or {}, message.get("id")
        if method == "ui/notifications/initialized" and self.opening:
            opened = (await self.call(self.opening, {}))["result"]
            return [
                note("ui/notifications/tool-input", arguments={}),
                note("ui/notifications/tool-result", **opened),
            ]
        if ident is None:
            return []
        if method == "ui/initialize":
            answer: Message = {"result": self._welcome()}
        elif method == "tools/call":
            answer = await self.call(str(params.get("name")), params.get("arguments") or {})
        elif method == "ping":
            answer = {"result": {}}
        else:
            answer = {"error": {"code": -32601, "message": "not supported"}}
        return [{"jsonrpc": "2.0", "id": ident, **answer}]

    def _welcome(self) -> Message:
        return {
            "protocolVersion": "2026-01-26",
            "hostInfo": {"name": "a plain host", "version": "1"},
            "hostCapabilities": {"serverTools": {}},
            "hostContext": self.context,
        }

    def notes(self, method: str) -> list[Message]:
        return [message["params"] for message in self.heard if message["method"] == method]


def note(method: str, **params: Any) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params}


@dataclass
class Shown:
    """A page on the screen, and every address the browser asked for."""

    page: Page
    frame: Frame
    server: TestServer
    asked: list[str]

    async def send(self, message: Message) -> None:
        await self.page.evaluate("(message) => window.toApp(message)", message)


async def show(
    browser: Browser,
    html: str,
    host: Host,
    *,
    query: str = "",
    headers: dict[str, str] | None = STRICT,
) -> Shown:
    """Shows `html` in a frame under `headers`; None makes it the host's equal, save for the tab."""
    sandbox = f'sandbox="allow-scripts{"" if headers else " allow-same-origin allow-popups"}"'

    async def outer(_request: web.Request) -> web.Response:
        text = HOST.replace("SANDBOX", sandbox)
        policy = {"Referrer-Policy": "no-referrer"} if headers else {}
        return web.Response(text=text, content_type="text/html", headers=policy)

    async def inner(_request: web.Request) -> web.Response:
        return web.Response(text=html, content_type="text/html", headers=headers or {})

    app = web.Application()
    app.add_routes([web.get("/", outer), web.get("/frame", inner)])
    server = TestServer(app)
    await server.start_server()
    page = await browser.new_page(viewport={"width": 1000, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.expose_function("hostAnswers", host)
    await page.goto(str(server.make_url(f"/{query}")))
    return Shown(page, page.frames[1], server, asked)
