"""A client whose id is the address of a document, and what a stranger could make us fetch."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from services.auth.oauth import documents
from services.auth.oauth.description import Undescribed
from services.auth.oauth.documents import KEPT_SECONDS, MAX_BYTES, Documents, is_address, outside
from tests.auth.conftest import Auth, Clock, StartBoth
from tests.auth.document_host import NAME, Host, Names, document_host
from tests.auth.oauth_client import OAuthClient, answer, answered


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    async with document_host(tmp_path) as found:
        yield found


@pytest.fixture
async def auth(start_both: StartBoth, host: Host) -> Auth:
    return await start_both(outside=host.http)


async def test_a_client_is_known_by_the_document_at_its_id(auth: Auth, host: Host) -> None:
    browser = await auth.signed_in()
    client = OAuthClient(auth, id=host.id, redirect="https://app.example.com/cb")
    page = await client.ask(browser)
    assert f"<strong>{NAME}:{host.port}</strong> says that this client is its own" in page.text
    assert "<strong>app.example.com</strong>" in page.text
    told = answered(await answer(browser, page))
    got = await client.redeem(told["code"])
    assert got.status == 200, got.body
    host.answer = lambda _: web.Response(status=500)
    auth.clock.now += KEPT_SECONDS + 1
    assert (await client.refresh(got.body["refresh_token"])).status == 200
    assert (await client.ask(browser)).status == 400
    assert NAME in (await browser.get(f"{auth.url}/auth/clients")).text


async def test_a_document_is_fetched_once_in_a_while_and_only_for_who_is_signed_in(
    auth: Auth, host: Host
) -> None:
    client = OAuthClient(auth, id=host.id, redirect="https://app.example.com/cb")
    await client.ask(auth.browser())
    await client.redeem("x")
    await client.refresh("x")
    assert host.seen == []
    browser = await auth.signed_in()
    for _ in range(3):
        assert (await client.ask(browser)).status == 200
    assert len(host.seen) == 1


async def test_an_address_that_the_document_does_not_name_gets_no_answer(
    auth: Auth, host: Host
) -> None:
    browser = await auth.signed_in()
    for redirect in ("https://app.example.com/other", "https://evil.test/cb"):
        page = await OAuthClient(auth, id=host.id, redirect=redirect).ask(browser)
        assert page.status == 400
    local = OAuthClient(auth, id=host.id, redirect="http://127.0.0.1:5000/callback")
    assert (await local.ask(browser)).status == 200


async def read(host: Host, client_id: str = "") -> Any:
    """What auth makes of the document now."""
    async with host.http() as http:
        return await Documents(http, Clock()).client(client_id or host.id)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "https://other.test/client.json"},
        {"client_id": None},
        {"redirect_uris": ["http://evil.test/cb"]},
        {"redirect_uris": []},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"client_secret": "x"},
        {"client_name": "x" * MAX_BYTES},
        {"grant_types": ["client_credentials"]},
    ],
)
async def test_a_document_that_cannot_be_believed_is_refused(
    host: Host, changes: dict[str, Any]
) -> None:
    assert (await read(host)).name == "Documented client"
    host.answer = lambda _: web.json_response(host.document(**changes))
    with pytest.raises(Undescribed):
        await read(host)


async def test_only_an_answer_of_200_with_json_is_a_document(host: Host) -> None:
    elsewhere = f"https://{NAME}:{host.port}/elsewhere"
    for response in (
        lambda _: web.Response(status=302, headers={"Location": elsewhere}),
        lambda _: web.Response(status=404),
        lambda _: web.Response(text="<html>", content_type="text/html"),
        lambda _: web.Response(body=b"{", content_type="application/json"),
        lambda _: web.Response(body=b"[" * 4000, content_type="application/json"),
        lambda _: web.Response(body=b"[]", content_type="application/json"),
    ):
        host.answer = response
        with pytest.raises(Undescribed):
            await read(host)
    assert "/elsewhere" not in host.seen


async def test_a_document_without_end_is_left_after_a_few_kilobytes(host: Host) -> None:
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while sent < 50 * 2**20:
            await response.write(b" " * 65536)
            sent += 65536
        return response

    host.answer = endless
    with pytest.raises(Undescribed):
        await read(host)
    assert sent < 50 * 2**20


async def test_a_document_that_never_comes_is_waited_for_seconds_only(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.auth.document_host.SECONDS", 0.2)
    never = asyncio.Event()
    host.answer = lambda _: never.wait()
    try:
        with pytest.raises(Undescribed):
            await read(host)
    finally:
        never.set()
    assert documents.SECONDS <= 5


@pytest.mark.parametrize(
    "where",
    ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1", "0"],
)
async def test_nothing_on_this_machine_is_connected_to(where: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        port = listening.getsockname()[1]
        async with outside() as http:
            with pytest.raises(Undescribed):
                await Documents(http, Clock()).client(f"https://{where}:{port}/client.json")
        with pytest.raises(BlockingIOError):
            listening.accept()


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "fd00::1"])
async def test_a_name_that_leads_inside_is_refused_on_the_address_that_is_connected_to(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected: list[object] = []

    async def connect(*args: object, **_: object) -> None:
        connected.append(args)
        raise OSError

    async with outside() as http:
        assert http.connector is not None
        names = Names(address)
        monkeypatch.setattr(http.connector, "_resolver", names)
        monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", connect)
        with pytest.raises(Undescribed):
            await Documents(http, Clock()).client(f"https://{NAME}/client.json")
        assert names.asked == [NAME]
        assert connected == []
        # the control: an address outside is connected to
        names.addresses = ["8.8.8.8"]
        with pytest.raises(Undescribed):
            await Documents(http, Clock()).client("https://outside.test/client.json")
        assert connected


@pytest.mark.parametrize(
    ("client_id", "is_one"),
    [
        ("https://app.test/client.json", True),
        ("https://app.test:8443/a/b", True),
        ("https://app.test", False),
        ("https://app.test/", False),
        ("http://app.test/client.json", False),
        ("HTTPS://app.test/client.json", False),
        ("https://user@app.test/client.json", False),
        ("https://app.test/client.json#x", False),
        ("https://app.test/client.json?x=1", False),
        ("https://app.test/a/../client.json", False),
        ("https://app.test/a/%2e%2e/client.json", False),
        ("https://app.test/./client.json", False),
        ("https://app.test/" + "a" * 300, False),
        ("file:///etc/passwd", False),
    ],
)
def test_an_id_is_an_address_in_its_plain_form_only(client_id: str, is_one: bool) -> None:
    assert is_address(client_id) is is_one
