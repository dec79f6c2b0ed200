"""What could be tried by registering clients."""

import pytest

from tests.auth.browser import Browser
from tests.auth.conftest import Auth, StartBoth
from tests.auth.oauth_client import REDIRECT, OAuthClient


@pytest.fixture
async def browser(auth: Auth) -> Browser:
    return await auth.signed_in()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://evil.test/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": [REDIRECT] * 11}, "invalid_redirect_uri"),
        ({"redirect_uris": REDIRECT}, "invalid_redirect_uri"),
        ({"client_name": 7}, "invalid_client_metadata"),
        ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"client_name": "x" * 17_000}, "invalid_client_metadata"),
    ],
)
async def test_a_registration_that_cannot_be_used_is_refused(
    auth: Auth, changes: dict[str, object], error: str
) -> None:
    got = await OAuthClient(auth).register(**changes)
    assert (got.status, got.body["error"]) == (400, error)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"[" * 9000, b'"x"'])
async def test_a_registration_is_one_json_object(auth: Auth, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    got = await OAuthClient(auth).direct("/oauth/register", data=body, headers=headers)
    assert got.status == 400


async def test_no_client_gets_a_secret_whatever_it_asks_for(auth: Auth) -> None:
    got = await OAuthClient(auth).register(token_endpoint_auth_method="client_secret_post")
    assert got.status == 201
    assert got.body["token_endpoint_auth_method"] == "none"
    assert "client_secret" not in got.body


async def test_a_name_with_markup_is_only_a_name(auth: Auth, browser: Browser) -> None:
    client = OAuthClient(auth)
    await client.register(client_name="<b>Bank</b>\u202e\n\x00 " + "x" * 200)
    page = await client.ask(browser)
    assert "<b>Bank" not in page.text
    assert "\u202e" not in page.text
    assert "x" * 61 not in page.text


async def test_a_flood_of_registrations_is_stopped_and_another_address_is_not(
    start_both: StartBoth,
) -> None:
    auth = await start_both(trusted_proxies=["127.0.0.1/32"])

    async def register(address: str) -> int:
        got = await OAuthClient(auth).direct(
            "/oauth/register",
            json={"redirect_uris": [REDIRECT]},
            headers={"X-Forwarded-For": f"10.9.9.9, {address}"},
        )
        return got.status

    auth.clock.now -= auth.clock.now % 60
    assert [await register("10.0.0.1") for _ in range(21)] == [201] * 20 + [429]
    assert await register("10.0.0.2") == 201
    statuses = [await register(f"10.1.0.{n}") for n in range(200)]
    assert 429 in statuses[150:]
    auth.clock.now += 60
    assert await register("10.0.0.1") == 201
