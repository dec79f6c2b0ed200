"""A relay that tests can tell what to say. It checks assertions as the real one does."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from joserfc.jwk import KeySet

from shared import numbers
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import (
    APP_MIME_TYPE,
    ASSERTION_HEADER,
    INTERNAL_RPC_PATH,
    INTERNAL_SERVERS_PATH,
    Service,
)
from shared.signing import AssertionRefused, verify_assertion

Json = dict[str, Any]


class Fault(Exception):
    """The server answers a request with a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}


@dataclass
class FakeServer:
    """One MCP server as the relay would show it."""

    people: set[str] = field(default_factory=set)
    tools: list[Json] = field(default_factory=list)
    resources: list[Json] = field(default_factory=list)
    contents: dict[str, list[Any]] = field(default_factory=dict)
    on_call: Callable[[Json], Json] = lambda _: {"content": [{"type": "text", "text": "done"}]}
    state: str = "ready"
    detail: str | None = None

    def page(self, html: str, uri: str = "ui://t/page", **item: Any) -> None:
        """Ship a page."""
        self.contents[uri] = [{"uri": uri, "mimeType": APP_MIME_TYPE, "text": html} | item]

    def tool(self, name: str, uri: str | None = None, **more: Any) -> None:
        """List a tool; with `uri` it declares that page."""
        meta = {"_meta": {"ui": {"resourceUri": uri}}} if uri else {}
        self.tools.append({"name": name, "inputSchema": {"type": "object"}} | meta | more)


@dataclass
class FakeRelay:
    """Answers the internal API. `asked`: what came, in order. `problem`: answer everything so.
    `hold`: tool calls wait for it."""

    keys: KeySet
    servers: dict[str, FakeServer] = field(default_factory=dict)
    asked: list[Json] = field(default_factory=list)
    problem: Problem | None = None
    hold: asyncio.Event | None = None
    raw: Callable[[], web.Response] | None = None
    used: set[str] = field(default_factory=set)

    def application(self) -> web.Application:
        app = web.Application(client_max_size=2**25)
        app.router.add_get(INTERNAL_SERVERS_PATH, self._list)
        app.router.add_post(INTERNAL_RPC_PATH, self._rpc)
        return app

    def calls(self) -> list[Json]:
        """The tool calls that reached the relay."""
        return [one for one in self.asked if one["method"] == "tools/call"]

    async def _list(self, request: web.Request) -> web.Response:
        if refusal := self._refuse(request, None):
            return refusal
        found = [
            {
                "slug": slug,
                "name": f"The {slug}",
                "description": "A server of tests.",
                "origin": "http://127.0.0.1:1",
                "state": server.state,
                "reason": None if server.state == "ready" else "upstream-unreachable",
                "detail": server.detail,
                "apps": [_app(tool) for tool in server.tools if "_meta" in tool],
                "tools": len(server.tools),
            }
            for slug, server in self.servers.items()
            if self._subject in server.people
        ]
        return web.json_response({"servers": found})

    async def _rpc(self, request: web.Request) -> web.Response:
        slug = request.match_info["slug"]
        if refusal := self._refuse(request, slug):
            return refusal
        server = self.servers.get(slug)
        body = await request.json()
        self.asked.append(body | {"slug": slug})
        subject = self._subject
        if self.hold is not None and body["method"] == "tools/call":
            await self.hold.wait()
        if server is None or subject not in server.people:
            return _problem(Problem(ProblemKind.NOT_FOUND, "There is nothing here."))
        try:
            found = self._answer(server, body)
            return web.json_response({"result": found}, dumps=numbers.dumps)
        except Fault as fault:
            return web.json_response({"error": fault.error}, dumps=numbers.dumps)

    def _answer(self, server: FakeServer, body: Json) -> Json:
        params = body["params"]
        match body["method"]:
            case "tools/list":
                return {"tools": server.tools}
            case "resources/list":
                return {"resources": server.resources}
            case "resources/read":
                if params["uri"] not in server.contents:
                    raise Fault(-32002, "Resource not found")
                return {"contents": server.contents[params["uri"]]}
            case _:
                return server.on_call(params)

    def _refuse(self, request: web.Request, slug: str | None) -> web.Response | None:
        text = request.headers.get(ASSERTION_HEADER, "")
        try:
            word = verify_assertion(
                text, self.keys, audience=Service.RELAY, slug=slug, now=time.time()
            )
        except AssertionRefused as error:
            return _problem(Problem(ProblemKind.SIGN_IN_NEEDED, str(error)))
        assert word.id not in self.used, "an assertion was used twice"
        self.used.add(word.id)
        self._subject = word.subject
        if self.raw is not None:
            return self.raw()
        return _problem(self.problem) if self.problem is not None else None


def _app(tool: Json) -> Json:
    hint = tool.get("annotations", {}).get("readOnlyHint", False)
    uri = tool["_meta"]["ui"]["resourceUri"]
    return {"uri": uri, "tool": tool["name"], "title": tool["name"], "read_only": hint}


def _problem(problem: Problem) -> web.Response:
    body = {
        "type": f"urn:strad:problem:{problem.kind}",
        "title": problem.title,
        "detail": problem.advice,
        "status": problem.status,
    }
    return web.json_response(body, status=problem.status, content_type="application/problem+json")
