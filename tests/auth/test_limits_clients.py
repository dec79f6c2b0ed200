"""Clients that fail without end are told to wait, and so is a person who asks for any number."""

from services.auth.limits import CLIENT_FAILURES, QUESTIONS
from tests.auth.conftest import CHARLES, Auth
from tests.auth.oauth_client import Answered, OAuthClient
from tests.auth.test_limits import start_of_a_minute

OFFICE, ELSEWHERE = "203.0.113.5", "203.0.113.6"


async def guess(client: OAuthClient, address: str, times: int = 1) -> Answered:
    """Made-up refresh tokens, as the edge passes them on."""
    got = None
    for number in range(times):
        form: dict[str, str | None] = {
            "grant_type": "refresh_token",
            "refresh_token": f"x{number}",
            "client_id": client.id,
            "resource": client.resource,
        }
        got = await client.post("/oauth/token", form, **{"X-Forwarded-For": address})
    assert got is not None
    return got


async def test_who_guesses_at_refresh_tokens_has_to_wait_and_nobody_else(auth: Auth) -> None:
    client = OAuthClient(auth)
    tokens = await client.connected(await auth.signed_in())
    start_of_a_minute(auth)
    assert (await guess(client, OFFICE, CLIENT_FAILURES)).status == 400
    refused = await guess(client, OFFICE)
    assert (refused.status, refused.headers["Retry-After"]) == (429, "60")
    assert (await guess(client, ELSEWHERE)).status == 400
    assert (await client.refresh(tokens["refresh_token"])).status == 200
    # people behind the same address sign in all the same
    page = await auth.browser().get(f"{auth.url}/auth/link", X_Forwarded_For=OFFICE)
    assert page.status == 400
    auth.clock.now += 60
    assert (await guess(client, OFFICE)).status == 400


async def test_a_client_that_does_nothing_wrong_is_not_counted(auth: Auth) -> None:
    client = OAuthClient(auth)
    token = (await client.connected(await auth.signed_in()))["refresh_token"]
    start_of_a_minute(auth)
    for number in range(CLIENT_FAILURES + 1):
        auth.clock.now += 1 if number % 2 else 0
        got = await client.refresh(token)
        assert got.status == 200, got.body
        token = got.body["refresh_token"]


async def test_one_person_has_so_many_clients_looked_up_and_another_is_not_held_up(
    auth: Auth,
) -> None:
    """Each could be the address of a document that strad would fetch."""
    browser, other = await auth.signed_in(), await auth.signed_in(CHARLES)
    start_of_a_minute(auth)
    for number in range(QUESTIONS):
        stranger = OAuthClient(auth, id=f"nobody-at-all-registered-{number}")
        assert (await stranger.ask(browser)).status == 400
    page = await OAuthClient(auth, id="https://c.example.com/c").ask(browser)
    assert (page.status, page.headers["Retry-After"]) == (429, "60")
    client = OAuthClient(auth)
    await client.register()
    assert (await client.ask(other)).status == 200
    auth.clock.now += 60
    assert (await client.ask(browser)).status == 200
