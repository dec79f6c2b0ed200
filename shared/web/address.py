"""Where a request comes from, behind the proxies that `trusted_proxies` names.

For limits and for a person's own eyes; no right ever depends on it.
"""

import ipaddress
from collections.abc import Sequence

from aiohttp import web

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

UNKNOWN = "unknown"
_SITE_BITS = 64  # what one customer has of IPv6, at least: no single address of it is a limit
_MOST_HOPS = 20


def client_address(request: web.Request, trusted: Sequence[Network]) -> str:
    """The nearest address that is no proxy of ours; `unknown` when there is none.

    `X-Forwarded-For` is read from its end, and only as far as trusted proxies wrote it: what stands
    before that is the caller's own text.
    """
    peer = _address(request.remote or "")
    if peer is None:
        return UNKNOWN
    nearest = peer
    hops = ",".join(request.headers.getall("X-Forwarded-For", [])).split(",")
    for hop in reversed(hops[-_MOST_HOPS:]):
        if not any(nearest in network for network in trusted):
            break
        found = _address(hop.strip())
        if found is None:
            break
        nearest = found
    return str(nearest)


def origin_of(address: str) -> str:
    """What a limit counts: the address, of IPv6 the network of one customer."""
    found = _address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, _SITE_BITS), strict=False))
    return address


def _address(text: str) -> Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
