"""The MCP server: three tools and one page, wired to the shop and to the caller's identity."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from mcp.server.apps import Apps, ResourceCsp
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field
from starlette.requests import Request
from starlette.types import ASGIApp

from demo.catalog.answers import LONGEST_QUERY, catalog, hold
from demo.catalog.contract import CatalogResult, SetAsideResult
from demo.catalog.gate import IdentityGate
from demo.catalog.identity import Caller, IdentityCheck
from demo.catalog.shop import Shop
from demo.serve import HEALTH, Address

PAGE_URI = "ui://catalog/view-v1"
PAGE = Path(__file__).parent / "view.html"
BOTH = {"ui": {"visibility": ["model", "app"]}}
READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
# No readOnlyHint: a host must not run this one unasked. It adds a hold and destroys nothing.
WRITES = ToolAnnotations(destructive_hint=False, idempotent_hint=False, open_world_hint=False)

# The length is published in the schema and checked in the tool, whose refusal reads better.
Query = Annotated[
    str,
    Field(
        description="Words that the name or description must contain",
        json_schema_extra={"maxLength": LONGEST_QUERY},
    ),
]
ToyId = Annotated[str, Field(description="An id from list_toys")]


def create_page(shop: Shop) -> Apps:
    """The page, and the tool whose result it shows."""
    apps = Apps()
    apps.add_html_resource(
        PAGE_URI,
        PAGE.read_text(encoding="utf-8"),
        name="catalog-view",
        title="Toy catalogue",
        description="The shop as a page: search, refresh, set aside",
        csp=ResourceCsp(
            connect_domains=[], resource_domains=[], frame_domains=[], base_uri_domains=[]
        ),
        prefers_border=True,
    )

    @apps.tool(
        resource_uri=PAGE_URI,
        visibility=["model", "app"],
        title="Show the catalogue",
        annotations=READS,
    )
    async def show_catalog(
        ctx: Context[Any], query: Query = ""
    ) -> Annotated[CallToolResult, CatalogResult]:
        """Show the toys of the shop, all or those that match a query, with prices and stock."""
        return catalog(shop, caller_of(ctx), query)

    return apps


def create_server(shop: Shop) -> MCPServer[Any]:
    """The protocol side, without transport."""
    server: MCPServer[Any] = MCPServer(
        "toy-catalogue",
        title="Toy catalogue",
        version="1.0.0",
        instructions="A small toy shop. show_catalog opens its page; set_aside holds a toy.",
        extensions=[create_page(shop)],
        subscriptions=False,
        log_level="CRITICAL",
    )

    @server.tool(title="List toys", annotations=READS, meta=BOTH)
    async def list_toys(
        ctx: Context[Any], query: Query = ""
    ) -> Annotated[CallToolResult, CatalogResult]:
        """List the toys again, all or those that match a query. The page uses it to refresh."""
        return catalog(shop, caller_of(ctx), query)

    @server.tool(title="Set a toy aside", annotations=WRITES, meta=BOTH)
    async def set_aside(ctx: Context[Any], toy: ToyId) -> Annotated[CallToolResult, SetAsideResult]:
        """Hold one piece of a toy for the caller for half an hour."""
        return hold(shop, caller_of(ctx), toy)

    return server


def create_app(
    address: Address,
    check: IdentityCheck | None,
    clock: Callable[[], float] = time.time,
) -> ASGIApp:
    """The ASGI application. Stateless: every request stands for its own caller."""
    server = create_server(Shop(clock))
    app = server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        transport_security=address.transport_security(),
    )
    app.routes.append(HEALTH)
    return IdentityGate(app, check)


def caller_of(ctx: Context[Any]) -> Caller | None:
    """What the gate found for the HTTP request that carries this call."""
    request = ctx.request_context.request
    assert isinstance(request, Request), "this server speaks HTTP only"
    caller: Caller | None = request.state.caller
    return caller
