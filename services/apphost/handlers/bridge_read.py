"""`POST /apps/<slug>/tools/list`, `resources/list`, `resources/read`: what a page may read.

The server is the one in the path. The locks are those of the call route, with one difference: a
sign-in that may look, but not act, may read, since the page itself came by such a read.
"""

from typing import Any

from aiohttp import web
from pydantic import Field

from services.apphost.incoming import Incoming, read
from services.apphost.limits import Limits
from services.apphost.relay_client import READ_SECONDS, RelayClient, RpcError
from shared import decide, numbers
from shared.contracts.wire import Surface
from shared.web.routes import PRINCIPAL


class ListBody(Incoming):
    """Nothing: a list comes whole, so there is no cursor."""


class ReadBody(Incoming):
    """`uri`: any address of this server, not only `ui://` (SEP-1865)."""

    uri: str = Field(min_length=1, max_length=2048)


class BridgeRead:
    """The three routes. Each answers `{"result"}`, or `{"error"}` as the server said it."""

    def __init__(self, relay: RelayClient, limits: Limits) -> None:
        self._relay = relay
        self._limits = limits

    async def tools(self, request: web.Request) -> web.Response:
        """The tools that a page may call: the others do not exist for it."""
        await read(request, ListBody, "a request for a list")
        return await self._ask(request, "tools/list", {})

    async def resources(self, request: web.Request) -> web.Response:
        """All resources of the server."""
        await read(request, ListBody, "a request for a list")
        return await self._ask(request, "resources/list", {})

    async def resource(self, request: web.Request) -> web.Response:
        """One resource."""
        wanted = await read(request, ReadBody, "a request for a resource")
        return await self._ask(request, "resources/read", {"uri": wanted.uri})

    async def _ask(self, request: web.Request, method: str, params: dict[str, Any]) -> web.Response:
        who, slug = request[PRINCIPAL], request.match_info["slug"]
        try:
            async with self._limits.one(who.digest, slug, READ_SECONDS):
                result = await self._relay.rpc(who, slug, method, params, surface=Surface.APP)
        except RpcError as error:
            return web.json_response({"error": error.error}, dumps=numbers.dumps)
        if method == "tools/list":
            tools = result.get("tools")
            found = tools if isinstance(tools, list) else []
            result = {"tools": [tool for tool in found if _is_for_pages(tool)]}
        return web.json_response({"result": result}, dumps=numbers.dumps)


def _is_for_pages(tool: object) -> bool:
    """Whether a page sees it. One whose `_meta.ui` is wrong cannot be judged, so it does not."""
    if not isinstance(tool, dict):
        return False
    try:
        return decide.tool_facts(tool).app_visible
    except ValueError:
        return False
