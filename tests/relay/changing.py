"""Servers whose lists and resources change when a test says so, of either version."""

import asyncio
import json
from typing import Any

from aiohttp import web

from tests.relay.upstreams import Fake

META = "_meta"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
CAPABILITIES = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
}
KINDS = tuple(CAPABILITIES)


class Changing(Fake):
    """What both have: lists, and streams of those who listen."""

    def __init__(self) -> None:
        super().__init__(self._reply)
        self.lists: dict[str, list[Any]] = {
            "tools": [{"name": "go", "inputSchema": {"type": "object"}}],
            "prompts": [{"name": "p"}],
            "resources": [{"uri": "x://r", "name": "r"}],
        }
        self.capabilities: dict[str, Any] = CAPABILITIES
        self.streams: dict[Any, web.StreamResponse] = {}
        self.listening = asyncio.Event()

    def grow(self, kind: str, name: str = "") -> None:
        """One entry more in a list."""
        entry = dict(self.lists[kind][0])
        entry["uri" if kind == "resources" else "name"] += name or "x"
        self.lists[kind] = [*self.lists[kind], entry]

    async def say(self, message: Any, stream: Any = None) -> None:
        """To one stream, or to all."""
        chosen = [self.streams[stream]] if stream is not None else list(self.streams.values())
        for one in chosen:
            await one.write(b"data: " + json.dumps(message).encode() + b"\n\n")

    async def changed(self, kind: str) -> None:
        """Tell everybody that a list has changed."""
        method = f"notifications/{kind}/list_changed"
        for number in list(self.streams):
            await self.say(self._tagged({"jsonrpc": "2.0", "method": method}, number), number)

    async def updated(self, uri: str) -> None:
        """Tell those who have subscribed."""
        said = {"jsonrpc": "2.0", "method": "notifications/resources/updated"}
        for number in list(self.streams):
            if uri in self.subscriptions(number):
                await self.say(self._tagged(said | {"params": {"uri": uri}}, number), number)

    def subscriptions(self, stream: Any) -> list[str]:
        """What a stream is subscribed to."""
        raise NotImplementedError

    async def streaming(self, number: int) -> None:
        """Until so many streams are open: of an end the server hears later than a caller."""
        async with asyncio.timeout(5):
            while len(self.streams) != number:
                await asyncio.sleep(0.01)

    def drop(self) -> None:
        """Break every stream off."""
        for one in list(self.streams.values()):
            transport = one._req.transport if one._req is not None else None
            if transport is not None:
                transport.abort()

    def _tagged(self, message: dict[str, Any], stream: Any) -> dict[str, Any]:
        return message

    def _list(self, method: str) -> dict[str, Any] | None:
        kind = method.removesuffix("/list")
        if kind in self.lists:
            return {kind: self.lists[kind]}
        return {"resourceTemplates": []} if method == "resources/templates/list" else None

    async def _open(self, request: web.Request, number: Any, first: bytes) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(first)
        self.streams[number] = response
        self.listening.set()
        try:
            await asyncio.sleep(60)
        finally:
            self.streams.pop(number, None)
        return response

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        raise NotImplementedError


class ChangingModern(Changing):
    """Of 2026-07-28: `subscriptions/listen`. Streams are numbered as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.filters: dict[int, dict[str, Any]] = {}
        self._ids: dict[int, Any] = {}
        self._opened = 0

    def subscriptions(self, stream: Any) -> list[str]:
        return list(self.filters[stream].get("resourceSubscriptions", []))

    def _tagged(self, message: dict[str, Any], stream: Any) -> dict[str, Any]:
        params = message.get("params", {}) | {META: {SUBSCRIPTION: self._ids[stream]}}
        return message | {"params": params}

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        method = message.get("method", "")
        found = self._list(method)
        if method == "server/discover":
            found = {"supportedVersions": ["2026-07-28"], "capabilities": self.capabilities}
            found["serverInfo"] = {"name": "fake", "version": "1"}
        if found is not None:
            more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
            return {"result": found | more}
        if method != "subscriptions/listen":
            error = {"code": -32601, "message": "Method not found"}
            body = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
            return web.json_response(body, status=404 if "Mcp-Method" in request.headers else 400)
        number = self._opened = self._opened + 1
        self._ids[number] = message["id"]
        self.filters[number] = message["params"]["notifications"]
        told = {"notifications": self.filters[number], META: {SUBSCRIPTION: message["id"]}}
        said = {"method": "notifications/subscriptions/acknowledged", "params": told}
        first = json.dumps({"jsonrpc": "2.0"} | said).encode()
        return self._open(request, number, b"data: " + first + b"\n\n")


class ChangingLegacy(Changing):
    """Of 2025-11-25: one GET stream a session. Streams have their session's id."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: dict[str, set[str]] = {}
        self.ended: list[str] = []
        self.no_stream: int | None = None

    def subscriptions(self, stream: Any) -> list[str]:
        return list(self.sessions[stream])

    def lose(self) -> None:
        """Forget every session."""
        self.sessions.clear()
        self.drop()

    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        session, method = request.headers.get("Mcp-Session-Id", ""), message.get("method", "")
        if method == "initialize":
            return self._begin(message)
        if session not in self.sessions:
            status = 404 if session else 400
            return web.json_response({"error": "Missing session ID"}, status=status)
        if request.method == "GET":
            if self.no_stream is not None or session in self.streams:
                return web.Response(status=self.no_stream or 409)
            return self._open(request, session, b": hello\n\n")
        if request.method == "DELETE":
            self.ended.append(session)
            del self.sessions[session]
            return web.Response()
        if "id" not in message or "method" not in message:
            return web.Response(status=202)
        return self._in_session(session, method, message.get("params", {}))

    def _in_session(self, session: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "resources/subscribe" and params["uri"] != "x://refused":
            self.sessions[session].add(params["uri"])
            return {"result": {}}
        if method == "resources/unsubscribe":
            self.sessions[session].discard(params["uri"])
            return {"result": {}}
        found = {} if method == "ping" else self._list(method)
        if found is not None:
            return {"result": found}
        return {"error": {"code": -32601, "message": "Method not found"}}

    def _begin(self, message: dict[str, Any]) -> web.Response:
        session = f"s{len(self.sessions) + len(self.ended) + 1}"
        self.sessions[session] = set()
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": self.capabilities,
            "serverInfo": {"name": "fake", "version": "1"},
        }
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return web.json_response(body, headers={"Mcp-Session-Id": session})


FAKES = {"modern": ChangingModern, "legacy": ChangingLegacy}
