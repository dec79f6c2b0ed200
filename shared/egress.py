"""The one guard for outgoing requests (relay, auth): where a request may go, and how.

Addresses come from the operator, but for `check_public`. Link-local addresses, those at which
clouds keep metadata and credentials, multicast and unspecified ones are refused after name
resolution, on the very address that is connected to, so that a name cannot change its mind in
between. Where the operator names networks for a server, they are all that its name may lead to. No
redirects, no cookies, no proxy from the environment.
"""

import ipaddress
import socket
from collections.abc import Callable, Collection, Mapping
from functools import partial

import aiohttp
from aiohappyeyeballs import AddrInfoType

Check = Callable[[str], None]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# metadata services at addresses that are not link-local: AWS (IPv6), Alibaba, Oracle, Azure
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        ("fd00:ec2::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
    )
)
# what is given out of IPv6; beside it Python calls addresses public that are for sites, for routers
# or hold one of IPv4: fec0::/10, 5f00::/16, ::/96, 64:ff9b::/32
_UNICAST = ipaddress.ip_network("2000::/3")
# for documents and for relays: newer than what this Python knows
_NOT_PUBLIC = tuple(map(ipaddress.ip_network, ("3fff::/20", "192.88.99.0/24")))
# servers by uvicorn and Node close after five idle seconds: what is sent at that moment is lost,
# and a call that is lost may not be repeated
IDLE_SECONDS = 4.0


class AddressRefused(OSError):
    """A name resolved to an address that strad does not connect to."""


def check_address(text: str, named: Collection[Network] = ()) -> None:
    """Raise `AddressRefused` for an address that must not be connected to.

    `named`: the only networks that it may be in, also where a rule forbids them otherwise.
    """
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if address.is_multicast or address.is_unspecified:
        raise AddressRefused(f"{text} is a multicast or unspecified address")
    if named:
        if not any(address in network for network in named):
            raise AddressRefused(f"{text} is in none of the networks that are named for it")
    elif address.is_link_local or address in _METADATA:
        raise AddressRefused(f"{text} is a link-local address or a cloud's metadata service")


def check_public(text: str) -> None:
    """Raise `AddressRefused` for any address but one of the public internet.

    For addresses that a stranger may write. An IPv6 address that holds another one is refused.
    """
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address):
        inside = address.ipv4_mapped or address.sixtofour or address.teredo
        if inside or address not in _UNICAST:
            raise AddressRefused(f"{text} holds another address, or is of a network by itself")
    listed = address in _METADATA or any(address in network for network in _NOT_PUBLIC)
    if not address.is_global or address.is_multicast or listed:
        raise AddressRefused(f"{text} is not an address of the public internet")


def _socket(check: Check, address: AddrInfoType) -> socket.socket:
    """A socket for one connection attempt: names are resolved by now, so nothing can change."""
    family, kind, protocol, _, target = address
    check(str(target[0]))
    return socket.socket(family=family, type=kind, proto=protocol)


def client(
    timeout: aiohttp.ClientTimeout,
    *,
    connections: int = 0,
    check: Check = check_address,
    headers: Mapping[str, str] | None = None,
) -> aiohttp.ClientSession:
    """An HTTP client behind the guard. `connections` 0: no limit. `headers`: of every request.

    Callers pass `allow_redirects=False` on every request.
    """
    factory = partial(_socket, check)
    connector = aiohttp.TCPConnector(
        socket_factory=factory, limit=connections, keepalive_timeout=IDLE_SECONDS
    )
    return aiohttp.ClientSession(
        connector=connector,
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=timeout,
        trust_env=False,
    )
