"""The one guard for outgoing requests (relay, auth): where a request may go, and how.

Addresses come from the operator only. Link-local addresses, those at which clouds keep metadata and
credentials, multicast and unspecified ones are refused after name resolution, on the very address
that is connected to, so that a name cannot change its mind in between. Where the operator names
networks for a server, they are all that its name may lead to. No redirects, no cookies, no proxy
from the environment.
"""

import ipaddress
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import aiohttp
from aiohappyeyeballs import AddrInfoType

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# metadata services at addresses that are not link-local: AWS (IPv6), Alibaba, Oracle, Azure
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        ("fd00:ec2::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
    )
)
_NAMED: ContextVar[Sequence[Network]] = ContextVar("named", default=())


class AddressRefused(OSError):
    """A name resolved to an address that strad does not connect to."""


@contextmanager
def only_to(networks: Sequence[Network]) -> Iterator[None]:
    """Inside, connections go to these networks alone; without any, to where no rule forbids it."""
    before = _NAMED.set(networks)
    try:
        yield
    finally:
        _NAMED.reset(before)


def check_address(text: str) -> None:
    """Raise `AddressRefused` for an address that must not be connected to."""
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if address.is_multicast or address.is_unspecified:
        raise AddressRefused(f"{text} is a multicast or unspecified address")
    if named := _NAMED.get():
        if not any(address in network for network in named):
            raise AddressRefused(f"{text} is in none of the networks that are named for it")
    elif address.is_link_local or address in _METADATA:
        raise AddressRefused(f"{text} is a link-local address or a cloud's metadata service")


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
