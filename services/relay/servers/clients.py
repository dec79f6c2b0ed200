"""The HTTP clients behind which servers are reached.

Connections are kept open, and kept by address: one that was made for a server whose networks allow
it must not be used for another, so each set of named networks has a client of its own.
"""

import asyncio
from collections.abc import Iterable
from functools import partial

import aiohttp

from services.relay.servers.failures import CONNECT_SECONDS
from shared import egress
from shared.contracts.config import Server

_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)


class Clients:
    """Needs a running loop."""

    def __init__(self, servers: Iterable[Server]) -> None:
        networks = {server.slug: server.networks for server in servers}
        self._all = {
            named: egress.client(_TIMEOUT, check=partial(egress.check_address, named=named))
            for named in set(networks.values())
        }
        self._of = {slug: self._all[named] for slug, named in networks.items()}

    def of(self, server: Server) -> aiohttp.ClientSession:
        """The one that goes only where this server may be."""
        return self._of[server.slug]

    async def close(self) -> None:
        """Let go of connections."""
        await asyncio.gather(*(client.close() for client in self._all.values()))
