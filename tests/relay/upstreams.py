"""Servers to relay to: real ones written with the SDK, of either era, and ones that misbehave."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from mcp.server.apps import Apps, ResourceCsp
from mcp.server.mcpserver import Context, MCPServer
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tests.asgi import serving

PAGE = "<!doctype html><title>Toys</title>"
PAGE_URI = "ui://toys/view.html"
Asgi = Callable[..., Awaitable[None]]


def toy_server(name: str = "toys") -> MCPServer:
    """A server of both eras: plain tools, a page, a resource, a prompt."""
    apps = Apps()

    @apps.tool(resource_uri=PAGE_URI, description="Shows the toys", title="Show toys")
    def show(ctx: Context) -> str:
        return f"toys of {name}"

    @apps.tool(resource_uri=PAGE_URI, visibility=["app"], description="For the page only")
    def refresh() -> str:
        return "refreshed"

    apps.add_html_resource(PAGE_URI, PAGE, csp=ResourceCsp(connect_domains=["https://x.example"]))
    server = MCPServer(name, extensions=[apps], instructions=f"This is {name}.")

    @server.tool()
    def echo(text: str) -> str:
        return text

    @server.tool()
    def delete(item: str) -> str:
        return f"deleted {item}"

    @server.tool()
    async def slow(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "awake"

    @server.resource("toys://catalogue")
    def catalogue() -> str:
        return "bear, car"

    @server.prompt()
    def describe(toy: str) -> str:
        return f"Describe {toy}"

    return server


def only(era: str, app: Asgi) -> Asgi:
    """The same server, as one that knows nothing of the other era."""

    async def guarded(scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", []))
        version = headers.get(b"mcp-protocol-version", b"").decode()
        is_modern = version in MODERN_PROTOCOL_VERSIONS
        if scope["type"] == "http" and is_modern != (era == "modern"):
            await _refuse(send, "Bad Request: Missing session ID")
            return
        await app(scope, receive, send)

    return guarded


async def _refuse(send: Any, text: str) -> None:
    error = {"code": -32600, "message": text}
    body = json.dumps({"jsonrpc": "2.0", "id": "server-error", "error": error}).encode()
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def served(app: Asgi, port: int = 0) -> AsyncIterator[str]:
    """An ASGI application, on a port of its own if none is named; the address of its /mcp."""
    sock = socket.create_server(("127.0.0.1", port))
    async with serving(app, sock):
        yield f"http://127.0.0.1:{sock.getsockname()[1]}/mcp"


def sdk_app(server: MCPServer, era: str = "both", **options: Any) -> Asgi:
    """The ASGI application of an SDK server."""
    app: Asgi = server.streamable_http_app(**options)
    return app if era == "both" else only(era, app)


Step = Callable[[], Awaitable[None]]


class Fake:
    """A server made of one handler; it keeps what it was sent."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        self.seen: list[web.Request] = []
        self.messages: list[dict[str, Any]] = []
        self._answer = answer

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        message = json.loads(raw) if raw else {}
        self.seen.append(request)
        self.messages.append(message)
        answer = self._answer(request, message)
        if asyncio.iscoroutine(answer):
            answer = await answer
        if isinstance(answer, web.StreamResponse):
            return answer
        return web.json_response({"jsonrpc": "2.0", "id": message.get("id"), **answer})

    @property
    def methods(self) -> list[str]:
        return [message.get("method", "") for message in self.messages]

    @asynccontextmanager
    async def served(self, port: int = 0) -> AsyncIterator[str]:
        """On a port of its own if none is named; gives the address of its /mcp."""
        async with self.restartable(port) as (url, _, _):
            yield url

    @asynccontextmanager
    async def restartable(self, port: int = 0) -> AsyncIterator[tuple[str, Step, Step]]:
        """The address, and how to stop and start what listens there."""
        runners: list[web.AppRunner] = []

        async def start() -> None:
            nonlocal port
            app = web.Application(client_max_size=2**26)
            app.router.add_route("*", "/mcp", self.handle)
            runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
            port = runner.addresses[0][1]
            runners.append(runner)

        async def stop() -> None:
            await runners.pop().cleanup()

        await start()
        try:
            yield f"http://127.0.0.1:{port}/mcp", stop, start
        finally:
            await stop()


class LegacyFake(Fake):
    """A server of 2025-11-25 with one live session, which it can lose."""

    def __init__(self, lost: int = 404, *, keeps: bool = True, words: str | None = None) -> None:
        super().__init__(self._reply)
        self._lost = lost
        self._words = words
        self._keeps = keeps
        self._live = 0
        self.opened = 0
        self.calls: list[dict[str, Any]] = []

    def lose(self) -> None:
        """Forget the live session."""
        self._live += 1

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        method = message.get("method")
        if method == "server/discover":
            return _no_session("server-error", 400)
        if method == "initialize":
            return self._begin(message)
        if self._keeps and request.headers.get("Mcp-Session-Id") != f"s{self._live}":
            if self._words is not None:
                return web.Response(status=self._lost, text=self._words)
            return _no_session(None, self._lost)
        if request.method == "DELETE" or "id" not in message:
            return web.Response(status=202)
        if method == "tools/call":
            self.calls.append(message["params"])
            return {"result": {"content": [], "structuredContent": {"n": 7}}}
        if method == "tools/list":
            return {"result": {"tools": [{"name": "go", "inputSchema": {}}]}}
        return {"error": {"code": -32601, "message": "Method not found"}}

    def _begin(self, message: dict[str, Any]) -> web.Response:
        self.opened += 1
        self._live += 1
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "1"},
        }
        reply = web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": result})
        if self._keeps:
            reply.headers["Mcp-Session-Id"] = f"s{self._live}"
        return reply


def _no_session(request_id: str | None, status: int) -> web.Response:
    error = {"code": -32600, "message": "Bad Request: no valid session ID"}
    return web.json_response({"jsonrpc": "2.0", "id": request_id, "error": error}, status=status)


def modern_fake(tools: Any = None, call: Callable[..., Any] | None = None, **more: Any) -> Fake:
    """A server of 2026-07-28 with the given `tools/list` result and call handler."""

    def answer(request: web.Request, message: dict[str, Any]) -> Any:
        method = message.get("method")
        if method == "server/discover":
            return {
                "result": {
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "fake", "version": "1"},
                    "ttlMs": 0,
                    "cacheScope": "public",
                }
            }
        if method == "tools/list" and tools is not None:
            found = tools(message) if callable(tools) else {"tools": tools}
            return {
                "result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"} | found
            }
        if method == "tools/call" and call is not None:
            return call(request, message)
        if method in more:
            return more[method](request, message)
        return web.json_response(
            {
                "jsonrpc": "2.0",
                "id": message.get("id"),
                "error": {"code": -32601, "message": "Method not found"},
            },
            status=404,
        )

    return Fake(answer)
