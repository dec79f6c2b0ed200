"""GET /.well-known/oauth-authorization-server: what the authorization server is (RFC 8414).

The only answer of auth that a page of another origin may read.
"""

from aiohttp import web

from services.auth.oauth.description import GRANTS
from services.auth.parts import PARTS
from shared.contracts import scopes
from shared.contracts.wire import AUTHORIZE_PATH, REGISTER_PATH, REVOKE_PATH, TOKEN_PATH

_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "MCP-Protocol-Version",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "public, max-age=300",
}


async def show(request: web.Request) -> web.Response:
    """The document."""
    config = request.app[PARTS].config
    url = config.public_url
    document = {
        "issuer": url,
        "authorization_endpoint": f"{url}{AUTHORIZE_PATH}",
        "token_endpoint": f"{url}{TOKEN_PATH}",
        "revocation_endpoint": f"{url}{REVOKE_PATH}",
        "scopes_supported": [scopes.EVERY_SERVER],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANTS),
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": config.oauth.documents,
    }
    if config.oauth.registration:
        document["registration_endpoint"] = f"{url}{REGISTER_PATH}"
    return web.json_response(document, headers=_CORS)


async def preflight(_: web.Request) -> web.Response:
    """CORS preflight: a client in a browser sends `MCP-Protocol-Version` with its GET."""
    return web.Response(status=204, headers=_CORS)
