"""GET /.well-known/openid-configuration and GET /jwks."""

from aiohttp import web

from demo.provider.keys import ALGORITHM
from demo.provider.state import PROVIDER
from demo.provider.tokens import OTHER_ISSUER


async def configuration(request: web.Request) -> web.Response:
    """OpenID Connect Discovery 1.0 §3; the last entry is RFC 9207 §3."""
    provider = request.app[PROVIDER]
    issuer = provider.settings.issuer
    named = OTHER_ISSUER if provider.faults.discovery_wrong_issuer else issuer
    return web.json_response(
        {
            "issuer": named,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "userinfo_endpoint": f"{issuer}/userinfo",
            "jwks_uri": f"{issuer}/jwks",
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code"],
            "subject_types_supported": ["public"],
            "scopes_supported": ["openid", "email", "profile"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
            "prompt_values_supported": ["none", "login", "select_account"],
            "claims_supported": [
                *("iss", "aud", "azp", "exp", "iat", "auth_time", "nonce", "at_hash", "sub"),
                *("email", "email_verified", "name", "locale", "hd"),
            ],
            "request_parameter_supported": False,
            "request_uri_parameter_supported": False,
            "authorization_response_iss_parameter_supported": True,
        }
    )


async def jwks(request: web.Request) -> web.Response:
    provider = request.app[PROVIDER]
    if provider.faults.jwks_down:
        raise web.HTTPServiceUnavailable(text="/jwks is down on purpose (fault jwks_down)")
    return web.json_response(provider.keys.published())
