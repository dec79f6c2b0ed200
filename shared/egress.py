"""The one guard for outgoing requests (relay, auth): where a request may go, and how.

Addresses come from the operator only. Link-local addresses (cloud metadata lives there),
multicast and unspecified ones are refused after name resolution, on the very address that is
connected to, so that a name cannot change its mind in between. No redirects, no cookies, no proxy
from the environment.
"""

import ipaddress
import socket
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver


class AddressRefused(OSError):
    """A name resolved to an address that strad never connects to."""


def check_address(text: str) -> None:
    """Raise `AddressRefused` for an address that no server of an operator lives at."""
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        raise AddressRefused(f"{text} is a link-local, multicast or unspecified address")


class GuardedResolver(AbstractResolver):
    """Resolves names and refuses what `check_address` refuses."""

    def __init__(self) -> None:
        self._resolver = DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        for result in found:
            check_address(result["host"])
        return found

    async def close(self) -> None:
        await self._resolver.close()


class _GuardedConnector(aiohttp.TCPConnector):
    # a literal address never reaches the resolver, so it is checked here too
    async def _resolve_host(self, host: str, port: int, traces: Any = None) -> list[ResolveResult]:
        found = await super()._resolve_host(host, port, traces)
        for result in found:
            check_address(result["host"])
        return found


def client(timeout: aiohttp.ClientTimeout, *, connections: int = 0) -> aiohttp.ClientSession:
    """An HTTP client behind the guard. `connections` 0: no limit.

    Callers pass `allow_redirects=False` on every request.
    """
    connector = _GuardedConnector(resolver=GuardedResolver(), limit=connections)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=timeout,
        trust_env=False,
        auto_decompress=True,
    )
