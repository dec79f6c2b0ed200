"""Where strad never connects to, tried over the real client."""

import ipaddress
import socket
import time

import aiohttp
import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.test_utils import TestServer

from shared import egress

REFUSED = [
    "169.254.169.254",  # the metadata service of every large cloud
    "[fe80::1]",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "0.0.0.0",
    "[::]",
    "224.0.0.1",
    "[ff02::1]",
    "[fd00:ec2::254]",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
]


def guarded() -> aiohttp.ClientSession:
    return egress.client(aiohttp.ClientTimeout(total=5))


@pytest.mark.parametrize("host", REFUSED)
async def test_a_literal_address_that_no_server_lives_at_is_refused(host: str) -> None:
    async with guarded() as client:
        with pytest.raises(aiohttp.ClientConnectorError) as caught:
            await client.get(f"http://{host}:9/")
    assert isinstance(caught.value.__cause__, egress.AddressRefused)


class Rebinding(AbstractResolver):
    """Answers with another address than any check before the connection could have seen."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            {
                "hostname": host,
                "host": "169.254.169.254",
                "port": port,
                "family": socket.AF_INET,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
        ]

    async def close(self) -> None:
        return None


async def test_a_name_that_resolves_to_the_metadata_service_is_refused() -> None:
    async with guarded() as client:
        connector = client.connector
        assert isinstance(connector, aiohttp.TCPConnector)
        await connector._resolver.close()
        connector._resolver = Rebinding()
        with pytest.raises(aiohttp.ClientConnectorError) as caught:
            await client.get("http://innocent.example:9/")
    assert isinstance(caught.value.__cause__, egress.AddressRefused)


@pytest.mark.parametrize(
    ("address", "named", "ok"),
    [
        ("169.254.10.5", ["169.254.10.5/32"], True),
        ("169.254.169.254", ["169.254.10.5/32"], False),
        ("fd00:ec2::254", ["fd00:ec2::/64"], True),
        ("10.1.2.3", ["10.0.0.0/8", "fd00::/8"], True),
        ("11.1.2.3", ["10.0.0.0/8", "fd00::/8"], False),
        ("127.0.0.1", ["10.0.0.0/8"], False),
        ("::ffff:10.1.2.3", ["10.0.0.0/8"], True),
        ("224.0.0.1", ["224.0.0.0/4"], False),
        ("0.0.0.0", ["0.0.0.0/0"], False),
    ],
)
def test_the_networks_that_are_named_are_all_and_only_those(
    address: str, named: list[str], ok: bool
) -> None:
    networks = [ipaddress.ip_network(one) for one in named]
    if ok:
        egress.check_address(address, networks)
    else:
        with pytest.raises(egress.AddressRefused):
            egress.check_address(address, networks)


async def test_a_server_on_this_machine_is_reached_because_the_operator_named_it() -> None:
    async def hello(request: web.Request) -> web.Response:
        assert "Cookie" not in request.headers
        response = web.Response(text="hello")
        response.set_cookie("planted", "1")
        return response

    app = web.Application()
    app.router.add_get("/", hello)
    async with TestServer(app) as server, guarded() as client:
        for _ in range(2):  # a planted cookie is not sent back
            async with client.get(server.make_url("/")) as answer:
                assert await answer.text() == "hello"


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    async def hello(_: web.Request) -> web.Response:
        return web.Response(text="direct")

    app = web.Application()
    app.router.add_get("/", hello)
    async with (
        TestServer(app) as server,
        guarded() as client,
        client.get(server.make_url("/")) as answer,
    ):
        assert await answer.text() == "direct"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.18.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "::1",
        "::",
        "fe80::1",
        "fd00:ec2::254",
        "fc00::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "2002:7f00:1::",
        "2001::1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1",
        "::7f00:1",
        "::a00:1",
        "fec0::1",
        "5f00::1",
        "3fff::1",
        "4000::1",
        "192.88.99.1",
    ],
)
def test_what_a_stranger_names_leads_to_the_public_internet_only(address: str) -> None:
    with pytest.raises(egress.AddressRefused):
        egress.check_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111"])
def test_the_public_internet_can_be_reached(address: str) -> None:
    egress.check_public(address)


async def test_a_connection_that_its_server_is_about_to_close_is_not_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ports: list[int] = []

    async def note(request: web.Request) -> web.Response:
        assert request.transport is not None
        ports.append(request.transport.get_extra_info("peername")[1])
        return web.Response()

    app = web.Application()
    app.router.add_get("/", note)
    passed = 0.0
    monkeypatch.setattr("aiohttp.connector.monotonic", lambda: time.monotonic() + passed)
    async with TestServer(app) as server, guarded() as client:
        for wait in (0.0, 0.0, 4.5):
            passed += wait
            async with client.get(server.make_url("/")) as answer:
                await answer.read()
    assert ports[0] == ports[1] != ports[2]
