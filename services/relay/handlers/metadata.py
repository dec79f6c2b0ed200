"""Public documents: what the resource is (RFC 9728), and the key that signs identities (RFC 7517).

The first is the only answer of the relay that a page of another origin may read: clients in
browsers ask for it. Servers ask for the key.
"""

import json

from aiohttp import web

from services.relay.servers.passport import Passports
from shared.contracts import scopes
from shared.contracts.wire import MCP_PATH

# `strad keys rotate` waits as long as servers keep the key set
_KEPT = {"Cache-Control": "public, max-age=300"}
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "MCP-Protocol-Version",
    "Cross-Origin-Resource-Policy": "cross-origin",
} | _KEPT


class Metadata:
    """The documents never change while the relay runs."""

    def __init__(self, public_url: str, passports: Passports) -> None:
        # one resource for every view of /mcp: rights to single servers are entitlements and not
        # audiences
        document = {
            "resource": f"{public_url}{MCP_PATH}",
            "resource_name": "strad",
            "authorization_servers": [public_url],
            "scopes_supported": [scopes.EVERY_SERVER],
            "bearer_methods_supported": ["header"],
        }
        self._document = json.dumps(document)
        self._keys = json.dumps(passports.key_set())

    async def resource(self, _: web.Request) -> web.Response:
        """The protected resource metadata; the same below every path of /mcp."""
        return web.Response(text=self._document, content_type="application/json", headers=_CORS)

    async def key_set(self, _: web.Request) -> web.Response:
        """The JWKS that verifies `Strad-Identity`."""
        return web.Response(text=self._keys, content_type="application/json", headers=_KEPT)

    async def preflight(self, _: web.Request) -> web.Response:
        """CORS preflight: a client in a browser sends `MCP-Protocol-Version` with its GET."""
        return web.Response(status=204, headers=_CORS)
