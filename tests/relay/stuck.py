"""A server that begins what it is asked and does not come to an end until it is told to."""

import asyncio
import json
from typing import Any

from aiohttp import web

from tests.relay.upstreams import Fake

SECRET = "what nobody may hear any more"
_CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
_INTRODUCTION = {"capabilities": _CAPABILITIES, "serverInfo": {"name": "s", "version": "1"}}
RESULTS: dict[str, dict[str, Any]] = {
    "tools/call": {"content": [{"type": "text", "text": SECRET}]},
    "tools/list": {"tools": [{"name": "go", "inputSchema": {}, "description": SECRET}]},
    "resources/read": {"contents": [{"uri": "x://r", "text": SECRET}]},
    "prompts/get": {"description": SECRET, "messages": []},
    "completion/complete": {"completion": {"values": [SECRET]}},
}
PARAMS: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "go", "arguments": {}},
    "tools/list": {},
    "resources/read": {"uri": "x://r"},
    "prompts/get": {"name": "p"},
    "completion/complete": {
        "ref": {"type": "ref/prompt", "name": "p"},
        "argument": {"name": "x", "value": "y"},
    },
}


def merged(params: dict[str, Any], slug: str = "a") -> dict[str, Any]:
    """The same for one server of a merged view."""
    text = json.dumps(params).replace('"name": "go"', f'"name": "{slug}__go"')
    text = text.replace('"name": "p"', f'"name": "{slug}__p"')
    return dict(json.loads(text.replace("x://r", f"strad+{slug}:x://r")))


class Stuck(Fake):
    """Of either era. It sticks at one method; `streams`: what it answers then is a stream.

    `speaks`: it says something in that stream before it sticks.
    """

    def __init__(
        self, era: str, method: str = "tools/call", *, streams: bool = False, speaks: bool = False
    ) -> None:
        super().__init__(self._reply)
        self._era = era
        self._method = method
        self._streams = streams
        self._speaks = speaks
        self.began = asyncio.Event()
        self.left = asyncio.Event()
        self.go_on = asyncio.Event()

    async def cancelled(self) -> None:
        """Wait until it knows: it is left, or told in the session."""
        if self._era == "modern":
            await self.left.wait()
        while self._era == "legacy" and "notifications/cancelled" not in self.methods:
            await asyncio.sleep(0.005)

    async def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        method = message.get("method", "")
        if method == self._method and "id" in message:
            return await self._stick(request, message)
        if method == "initialize" and self._era == "legacy":
            version = message["params"]["protocolVersion"]
            reply = {"result": _INTRODUCTION | {"protocolVersion": version}}
            body = {"jsonrpc": "2.0", "id": message["id"], **reply}
            return web.json_response(body, headers={"Mcp-Session-Id": "s1"})
        if method == "server/discover" and self._era == "modern":
            return self._done(_INTRODUCTION | {"supportedVersions": ["2026-07-28"]})
        if "id" not in message:
            return web.Response(status=202)
        if method in RESULTS and method != self._method:
            return self._done(RESULTS[method])
        return web.json_response(
            {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}, status=400
        )

    def _done(self, result: dict[str, Any]) -> dict[str, Any]:
        more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        return {"result": result | (more if self._era == "modern" else {})}

    async def _stick(self, request: web.Request, message: dict[str, Any]) -> Any:
        answer = self._done(RESULTS[self._method])
        if not self._streams:
            await self._wait()
            return answer
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        if self._speaks:
            said = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hm"}}
            await response.write(b"data: " + json.dumps(said).encode() + b"\n\n")
        await self._wait()
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer})
        await response.write(b"data: " + body.encode() + b"\n\n")
        return response

    async def _wait(self) -> None:
        self.began.set()
        try:
            await self.go_on.wait()
        finally:
            self.left.set()
