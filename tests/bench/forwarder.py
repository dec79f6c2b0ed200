"""A bare aiohttp hop: `python -m tests.bench.forwarder PORT SERVER_URL`.

It reads the JSON of a request once, sends the request to one address and the answer back, and knows
nothing of MCP. What it costs is the floor for any relay that is written in Python.
"""

import json
import sys
from collections.abc import AsyncIterator

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, web

from demo.run.ports import LOOPBACK

_REQUEST = ("Accept", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")
_BOTH = ("Mcp-Session-Id",)
_HTTP: web.AppKey[ClientSession] = web.AppKey("http")


def create_app(target: str) -> web.Application:
    """The hop to one address."""

    async def client(app: web.Application) -> AsyncIterator[None]:
        async with ClientSession(
            connector=TCPConnector(limit=0),
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=None),
        ) as http:
            app[_HTTP] = http
            yield

    async def forward(request: web.Request) -> web.StreamResponse:
        headers = {k: request.headers[k] for k in _REQUEST + _BOTH if k in request.headers}
        body = await request.read()
        if not isinstance(json.loads(body), dict):
            return web.Response(status=400)
        async with request.app[_HTTP].post(target, data=body, headers=headers) as answer:
            back = {k: answer.headers[k] for k in _BOTH if k in answer.headers}
            back["Content-Type"] = answer.headers.get("Content-Type", "application/json")
            if answer.content_type == "application/json":
                return web.Response(status=answer.status, body=await answer.read(), headers=back)
            response = web.StreamResponse(status=answer.status, headers=back)
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    app = web.Application()
    app.cleanup_ctx.append(client)
    app.router.add_post("/mcp", forward)
    return app


if __name__ == "__main__":
    app = create_app(sys.argv[2])
    web.run_app(app, host=LOOPBACK, port=int(sys.argv[1]), print=None, access_log=None)
