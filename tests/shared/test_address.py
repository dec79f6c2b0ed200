"""Where a request comes from: only trusted proxies are believed, from the nearest backwards."""

import ipaddress

import pytest
from aiohttp.test_utils import make_mocked_request

from shared.contracts.fields import PRIVATE_NETWORKS
from shared.web.address import UNKNOWN, client_address, origin_of


class _Transport:
    def __init__(self, peer: str) -> None:
        self._peer = peer

    def get_extra_info(self, name: str, default: object = None) -> object:
        return (self._peer, 1) if name == "peername" else default


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.5", None, "203.0.113.5"),
        ("203.0.113.5", "198.51.100.1", "203.0.113.5"),  # a stranger's word
        ("10.0.0.2", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.2", "1.2.3.4, 198.51.100.1", "198.51.100.1"),  # the first is the caller's text
        ("10.0.0.2", "198.51.100.1, 10.0.0.9", "198.51.100.1"),
        ("10.0.0.2", "1.2.3.4, nonsense", "10.0.0.2"),
        ("10.0.0.2", "1.2.3.4, nonsense, 10.0.0.9", "10.0.0.9"),
        ("10.0.0.2", "", "10.0.0.2"),
        ("10.0.0.2", None, "10.0.0.2"),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1"),
        ("::ffff:10.0.0.2", "2001:db8::1", "2001:db8::1"),
        ("not an address", "1.2.3.4", UNKNOWN),
    ],
)
def test_the_nearest_address_that_is_no_proxy_of_ours(
    peer: str, forwarded: str | None, address: str
) -> None:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    request = make_mocked_request("GET", "/", headers, transport=_Transport(peer))
    assert client_address(request, PRIVATE_NETWORKS) == address


def test_without_proxies_nobody_is_believed() -> None:
    headers = {"X-Forwarded-For": "1.2.3.4"}
    request = make_mocked_request("GET", "/", headers, transport=_Transport("10.0.0.2"))
    assert client_address(request, ()) == "10.0.0.2"
    assert client_address(request, (ipaddress.ip_network("10.0.0.0/24"),)) == "1.2.3.4"


def test_one_customers_many_addresses_of_ipv6_count_as_one() -> None:
    assert origin_of("2001:db8:1:2::1") == origin_of("2001:db8:1:2:ffff::9") == "2001:db8:1:2::/64"
    assert origin_of("2001:db8:1:3::1") != origin_of("2001:db8:1:2::1")
    assert origin_of("203.0.113.5") == "203.0.113.5"
