"""GET /.well-known/oauth-authorization-server: what the authorization server is (RFC 8414).

The only answer of auth that a page of another origin may read.
"""

from aiohttp import web

from services.auth.oauth.description import GRANTS
from services.auth.oauth.machines import BY_ASSERTION
from services.auth.oauth.machines import GRANT as MACHINE_GRANT
from services.auth.oauth.parts import OAUTH
from services.auth.parts import PARTS
from shared.contracts import scopes
from shared.contracts.wire import AUTHORIZE_PATH, REGISTER_PATH, REVOKE_PATH, TOKEN_PATH
from shared.machine_proofs import ALGORITHMS

_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "MCP-Protocol-Version",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "public, max-age=300",
}


async def show(request: web.Request) -> web.Response:
    """The document."""
    config, methods = request.app[PARTS].config, request.app[OAUTH].methods()
    url = config.public_url
    document = {
        "issuer": url,
        "authorization_endpoint": f"{url}{AUTHORIZE_PATH}",
        "token_endpoint": f"{url}{TOKEN_PATH}",
        "revocation_endpoint": f"{url}{REVOKE_PATH}",
        "scopes_supported": [scopes.EVERY_SERVER],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [*GRANTS, *([MACHINE_GRANT] if methods else [])],
        "token_endpoint_auth_methods_supported": ["none", *methods],
        "revocation_endpoint_auth_methods_supported": ["none", *methods],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": config.oauth.documents,
    }
    if BY_ASSERTION in methods:
        signed = sorted(algorithm for each in ALGORITHMS.values() for algorithm in each)
        for endpoint in ("token", "revocation"):
            document[f"{endpoint}_endpoint_auth_signing_alg_values_supported"] = signed
    if config.oauth.registration:
        document["registration_endpoint"] = f"{url}{REGISTER_PATH}"
    return web.json_response(document, headers=_CORS)


async def preflight(_: web.Request) -> web.Response:
    """CORS preflight: a client in a browser sends `MCP-Protocol-Version` with its GET."""
    return web.Response(status=204, headers=_CORS)
