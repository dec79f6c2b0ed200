"""The servers that the bench calls: `python -m tests.bench.upstreams sdk|stub PORT`.

Both offer one tool, `echo`, in both eras. `sdk` is what people write with the official SDK; `stub`
answers with constants, so that what is left is the way to it. The stub also has streams, on which
it says nothing but, at `POST /change`, that its list of tools is another one now.
"""

import asyncio
import json
import sys

import uvicorn
from aiohttp import web
from mcp.server.mcpserver import MCPServer

from demo.run.ports import LOOPBACK

TEXT = "hello from the bench"
TOOL = "echo"
CHANGED = "notifications/tools/list_changed"

_INFO = {"name": "stub", "version": "1"}
_MODERN: dict[str, object] = {
    "resultType": "complete",
    "_meta": {"io.modelcontextprotocol/serverInfo": _INFO},
}
_CACHE: dict[str, object] = {"ttlMs": 60_000, "cacheScope": "public"}
_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}
_CAPABILITIES = {"tools": {"listChanged": True}}
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_RESULTS: dict[str, dict[str, object]] = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": _CAPABILITIES}
    | _CACHE,
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": _CAPABILITIES,
        "serverInfo": _INFO,
    },
    "tools/list": {"tools": [{"name": TOOL, "inputSchema": _SCHEMA}]} | _CACHE,
    "tools/call": {"content": [{"type": "text", "text": TEXT}], "isError": False},
}


def sdk_server(port: int) -> None:
    """Serve the SDK's own server with its own settings."""
    server = MCPServer("bench", log_level="ERROR")

    @server.tool(name=TOOL)
    def echo(text: str) -> str:
        """Say it again."""
        return text

    app = server.streamable_http_app()
    uvicorn.run(app, host=LOOPBACK, port=port, log_level="error", access_log=False)


async def answer(request: web.Request) -> web.StreamResponse:
    """Answer any known method with its constant; 404 and -32601 for the others."""
    message = await request.json()
    if "id" not in message:
        return web.Response(status=202)
    if message["method"] == "subscriptions/listen":
        return await stream(request, message)
    head = {"jsonrpc": "2.0", "id": message["id"]}
    result = _RESULTS.get(message["method"])
    if result is None:
        error = {"code": -32601, "message": "no such method"}
        return web.json_response(head | {"error": error}, status=404)
    if request.headers.get("MCP-Protocol-Version") == "2026-07-28":
        result = result | _MODERN
    return web.json_response(head | {"result": result})


class Streams:
    """Those that are open, with the id that each says."""

    def __init__(self) -> None:
        self.open: dict[web.StreamResponse, object] = {}

    async def say(self, response: web.StreamResponse, method: str, **params: object) -> None:
        meta = {"_meta": {_SUBSCRIPTION: self.open[response]}} if self.open[response] else {}
        said = {"jsonrpc": "2.0", "method": method, "params": {**params, **meta}}
        await response.write(b"data: " + json.dumps(said).encode() + b"\n\n")


STREAMS = Streams()


async def stream(
    request: web.Request, message: dict[str, dict[str, object]] | None = None
) -> web.StreamResponse:
    """A stream without end: `subscriptions/listen`, or a GET."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    STREAMS.open[response] = message["id"] if message else None
    if message:
        wanted = message["params"]["notifications"]
        await STREAMS.say(response, _ACKNOWLEDGED, notifications=wanted)
    else:
        await response.write(b": open\n\n")
    try:
        await asyncio.Event().wait()
    finally:
        del STREAMS.open[response]
    return response


async def change(request: web.Request) -> web.Response:
    """Another description, and all who listen are told."""
    _RESULTS["tools/list"]["tools"] = [
        {"name": TOOL, "inputSchema": _SCHEMA, "description": "It says it again."}
    ]
    for response in list(STREAMS.open):
        await STREAMS.say(response, CHANGED)
    return web.Response()


def stub_server(port: int) -> None:
    """Serve constants."""
    app = web.Application()
    app.router.add_post("/mcp", answer)
    app.router.add_get("/mcp", stream)
    app.router.add_post("/change", change)
    web.run_app(
        app,
        host=LOOPBACK,
        port=port,
        print=None,
        access_log=None,
        handler_cancellation=True,
        shutdown_timeout=1,
    )


if __name__ == "__main__":
    {"sdk": sdk_server, "stub": stub_server}[sys.argv[1]](int(sys.argv[2]))
