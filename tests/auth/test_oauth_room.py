"""What clients leave in Redis is bounded, whatever they do: a full Redis would let nobody in."""

import pytest

from services.auth.limits import REFRESHES
from services.auth.oauth import registered
from shared import keys
from tests.auth.conftest import Auth
from tests.auth.oauth_client import OAuthClient
from tests.auth.test_limits import start_of_a_minute
from tests.auth.test_oauth_attacks import live


def kept(auth: Auth, prefix: str = "") -> int:
    """How many records and sets there are now."""
    store = vars(auth.store)
    found = [*store["_values"].items(), *store["_sets"].items()]
    return sum(key.startswith(prefix) and end > auth.clock.now for key, (_, end) in found)


@pytest.fixture
async def client(auth: Auth) -> OAuthClient:
    """A client that has registered."""
    made = OAuthClient(auth)
    assert (await made.register()).status == 201
    return made


async def test_a_client_in_use_for_weeks_leaves_no_trail_and_its_first_token_is_still_known(
    auth: Auth, client: OAuthClient
) -> None:
    first = await client.connected(await auth.signed_in())
    got, sizes = first, []
    for _ in range(40):
        auth.clock.now += 11 * 60
        got = (await client.refresh(got["refresh_token"])).body
        sizes.append(kept(auth))
    assert sizes[-1] <= sizes[4]
    assert await live(auth, got["access_token"])
    again = await client.refresh(first["refresh_token"])
    assert again.body["error"] == "invalid_grant"
    assert not await live(auth, got["access_token"])
    assert (await client.refresh(got["refresh_token"])).body["error"] == "invalid_grant"


async def test_who_knows_the_name_of_a_family_cannot_end_it(
    auth: Auth, client: OAuthClient
) -> None:
    """It stands in the trail and in the address of a button."""
    got = await client.connected(await auth.signed_in())
    token = got["refresh_token"]
    secret, family, mark = token.split(".")
    other = await client.connected(await auth.signed_in())
    for forged in (
        f"{secret[:-1]}{'y' if secret.endswith('x') else 'x'}.{family}.{mark}",
        f"{secret}.{family}",
        f"{secret}.{family}.",
        f"{secret}.{family}.{'A' * len(mark)}",
        f"x.{family}.{mark}",
        f"{other['refresh_token'].split('.')[0]}.{family}.{mark}",
        f"{token}.x",
    ):
        assert (await client.refresh(forged)).body["error"] == "invalid_grant"
    assert await live(auth, got["access_token"])
    assert (await client.refresh(token)).status == 200


async def test_another_client_that_brings_an_old_token_ends_nothing(
    auth: Auth, client: OAuthClient
) -> None:
    other = OAuthClient(auth)
    await other.register()
    first = await client.connected(await auth.signed_in())
    got = (await client.refresh(first["refresh_token"])).body
    auth.clock.now += 3600
    assert (await other.refresh(first["refresh_token"])).body["error"] == "invalid_grant"
    assert (await client.refresh(got["refresh_token"])).status == 200


async def test_one_person_has_so_many_tokens_given_out_a_minute(
    auth: Auth, client: OAuthClient
) -> None:
    browser = await auth.signed_in()
    token = (await client.connected(browser))["refresh_token"]
    start_of_a_minute(auth)
    for _ in range(REFRESHES):
        got = await client.refresh(token)
        assert got.status == 200, got.body
        token = got.body["refresh_token"]
    refused = await client.refresh(token)
    assert (refused.status, refused.headers["Retry-After"]) == (429, "60")
    auth.clock.now += 60
    assert (await client.refresh(token)).status == 200


async def test_registrations_take_the_places_of_the_oldest_that_nobody_uses(
    auth: Auth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registered, "MOST_UNUSED", 5)
    browser = await auth.signed_in()
    used, unused = OAuthClient(auth), OAuthClient(auth)
    await used.connected(browser)
    await unused.register()
    assert (await unused.ask(browser)).status == 200
    later = [OAuthClient(auth) for _ in range(5)]
    for one in later:
        await one.register()
    assert (await unused.ask(browser)).status == 400
    for one in (used, *later):
        assert (await one.ask(browser)).status == 200
    assert kept(auth, keys.OAUTH.key("slot")) == 5
