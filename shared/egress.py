"""The one guard for outgoing requests (relay, auth): where a request may go, and how.

Addresses come from the operator only. Link-local addresses (cloud metadata lives there),
multicast and unspecified ones are refused after name resolution, on the very address that is
connected to, so that a name cannot change its mind in between. No redirects, no cookies, no proxy
from the environment.
"""

import ipaddress
import socket

import aiohttp
from aiohappyeyeballs import AddrInfoType


class AddressRefused(OSError):
    """A name resolved to an address that strad never connects to."""


def check_address(text: str) -> None:
    """Raise `AddressRefused` for an address that no server of an operator lives at."""
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        raise AddressRefused(f"{text} is a link-local, multicast or unspecified address")


def _socket(address: AddrInfoType) -> socket.socket:
    """A socket for one connection attempt: names are resolved by now, so nothing can change."""
    family, kind, protocol, _, target = address
    check_address(str(target[0]))
    return socket.socket(family=family, type=kind, proto=protocol)


def client(timeout: aiohttp.ClientTimeout, *, connections: int = 0) -> aiohttp.ClientSession:
    """An HTTP client behind the guard. `connections` 0: no limit.

    Callers pass `allow_redirects=False` on every request.
    """
    connector = aiohttp.TCPConnector(socket_factory=_socket, limit=connections)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=timeout,
        trust_env=False,
    )
