"""The HTTP client of each server: what it is always sent, and where it may be.

Connections are kept open, by address. One that was made for a server whose networks allow it must
not be used for another, so no two servers share a client.
"""

import asyncio
from collections.abc import Mapping
from functools import partial

import aiohttp
from multidict import CIMultiDict

from services.relay.servers.failures import CONNECT_SECONDS
from shared import egress
from shared.contracts.config import Server

_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
_ALWAYS = {
    "Accept": "application/json, text/event-stream",
    "Accept-Encoding": "identity",  # a compressed answer could unpack to any size
    "Content-Type": "application/json",
    "User-Agent": "strad-relay",
}


class Clients:
    """Made when they are first needed. `credentials`: headers from the operator's secrets."""

    def __init__(self, credentials: Mapping[str, Mapping[str, str]]) -> None:
        self._credentials = credentials
        self._of: dict[str, aiohttp.ClientSession] = {}

    def of(self, server: Server) -> aiohttp.ClientSession:
        """A server's own. Needs a running loop."""
        return self._of.get(server.slug) or self._made(server)

    async def close(self) -> None:
        """Let go of connections."""
        await asyncio.gather(*(client.close() for client in self._of.values()))

    def _made(self, server: Server) -> aiohttp.ClientSession:
        headers = CIMultiDict(_ALWAYS)
        headers.update(self._credentials.get(server.slug, {}))
        if server.language is not None:
            headers["Accept-Language"] = server.language
        check = partial(egress.check_address, named=server.networks)
        self._of[server.slug] = client = egress.client(_TIMEOUT, check=check, headers=headers)
        return client
