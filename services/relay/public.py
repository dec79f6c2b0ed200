"""The relay's public port: its routes, and how it refuses."""

from aiohttp import web

from services.relay.callers.bearer import challenge
from services.relay.handlers.mcp import Mcp, foreign_origins
from services.relay.handlers.metadata import Metadata
from shared.contracts.problems import Problem
from shared.contracts.wire import JWKS_PATH, MCP_PATH, RESOURCE_METADATA_PATH
from shared.web.problems import Render, renderer
from shared.web.routes import Access, Answer, Route


def public_routes(mcp: Mcp, metadata: Metadata, public_url: str) -> list[Route]:
    """`/mcp` for whoever brings a token, and the documents that anybody may read."""
    guard = foreign_origins(public_url)
    routes = [
        Route(verb, path, handler, Access.BEARER, Answer.RPC, guard)
        for path in (MCP_PATH, f"{MCP_PATH}/{{slug}}")
        for verb, handler in (("POST", mcp.post), ("GET", mcp.get), ("DELETE", mcp.delete))
    ]
    documents = {
        RESOURCE_METADATA_PATH: metadata.resource,
        f"{RESOURCE_METADATA_PATH}{MCP_PATH}": metadata.resource,
        f"{RESOURCE_METADATA_PATH}{MCP_PATH}/{{slug}}": metadata.resource,
    }
    routes.append(Route("GET", JWKS_PATH, metadata.key_set, Access.PUBLIC, Answer.JSON))
    for path, handler in documents.items():
        routes.append(Route("GET", path, handler, Access.PUBLIC, Answer.JSON))
        routes.append(Route("OPTIONS", path, metadata.preflight, Access.PUBLIC, Answer.JSON))
    return routes


def render(public_url: str) -> Render:
    """As everywhere, and a 401 says where to learn about tokens."""
    plain = renderer()

    async def answer(request: web.Request, problem: Problem) -> web.Response:
        response = await plain(request, problem)
        told = challenge(request, problem, public_url)
        if told is not None:
            response.headers["WWW-Authenticate"] = told
        return response

    return answer
