"""The servers that the bench calls: `python -m tests.bench.upstreams sdk|stub PORT`.

Both offer one tool, `echo`, in both eras. `sdk` is what people write with the official SDK; `stub`
answers with constants, so that what is left is the way to it.
"""

import sys

import uvicorn
from aiohttp import web
from mcp.server.mcpserver import MCPServer

from demo.run.ports import LOOPBACK

TEXT = "hello from the bench"
TOOL = "echo"

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
_RESULTS: dict[str, dict[str, object]] = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    | _CACHE,
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
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


async def answer(request: web.Request) -> web.Response:
    """Answer any known method with its constant; 404 and -32601 for the others."""
    message = await request.json()
    if "id" not in message:
        return web.Response(status=202)
    head = {"jsonrpc": "2.0", "id": message["id"]}
    result = _RESULTS.get(message["method"])
    if result is None:
        error = {"code": -32601, "message": "no such method"}
        return web.json_response(head | {"error": error}, status=404)
    if request.headers.get("MCP-Protocol-Version") == "2026-07-28":
        result = result | _MODERN
    return web.json_response(head | {"result": result})


def stub_server(port: int) -> None:
    """Serve constants."""
    app = web.Application()
    app.router.add_post("/mcp", answer)
    web.run_app(app, host=LOOPBACK, port=port, print=None, access_log=None)


if __name__ == "__main__":
    {"sdk": sdk_server, "stub": stub_server}[sys.argv[1]](int(sys.argv[2]))
