"""What the audit trail says of clients, and that nothing happens to them untold."""

import re

from services.auth.oauth.connected import MAX_CLIENTS
from shared.contracts.wire import CLIENTS_PATH
from tests.auth.browser import Browser
from tests.auth.conftest import Auth, Clock, StartBoth
from tests.auth.oauth_client import OAuthClient, answer
from tests.auth.test_oauth import tokens
from tests.auth.test_trail import Unwritten, trail


async def told(auth: Auth) -> list[tuple[str, str | None, str | None]]:
    """Event, id of what was allowed, reason."""
    return [(one["event"], one.get("token"), one.get("reason")) for one in await trail(auth)][1:]


async def family(auth: Auth, access_token: str) -> str:
    found = await tokens(auth).verify(access_token)
    assert found is not None
    return found[1].id


async def ends(auth: Auth, browser: Browser) -> list[str]:
    """What the buttons of the page post to."""
    page = await browser.get(auth.url + CLIENTS_PATH)
    return re.findall(rf'action="({CLIENTS_PATH}/[^"]+/end)"', page.text)


async def test_connecting_ending_giving_back_and_reuse_are_told(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    first = await client.connected(browser)
    one = await family(auth, first["access_token"])
    await browser.post(auth.url + (await ends(auth, browser))[0], {})
    second = await client.connected(browser)
    two = await family(auth, second["access_token"])
    form: dict[str, str | None] = {"token": second["refresh_token"], "client_id": client.id}
    await client.post("/oauth/revoke", form)
    third = await client.connected(browser)
    three = await family(auth, third["access_token"])
    fourth = await client.refresh(third["refresh_token"])
    await client.refresh(fourth.body["refresh_token"])
    await client.refresh(third["refresh_token"])
    assert await told(auth) == [
        ("client-connected", one, None),
        ("client-ended", one, None),
        ("client-connected", two, None),
        ("client-ended", two, None),
        ("client-connected", three, None),
        ("client-ended", three, "refresh-token-reused"),
    ]


async def test_a_client_that_makes_room_is_told(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    first = await family(auth, (await client.connected(browser))["access_token"])
    for _ in range(MAX_CLIENTS):
        auth.clock.now += 5
        await client.connected(browser)
    assert ("client-ended", first, "too-many-clients") in await told(auth)


async def test_nothing_happens_to_a_client_that_could_not_be_told(
    start_both: StartBoth, clock: Clock
) -> None:
    store = Unwritten(clock)
    auth = await start_both(store=store)
    browser, client = await auth.signed_in(), OAuthClient(auth)
    got = await client.connected(browser)
    page = await client.ask(browser)
    (end,) = await ends(auth, browser)
    form: dict[str, str | None] = {"token": got["refresh_token"], "client_id": client.id}
    store.away = True
    refused = await answer(browser, page)
    assert refused.status == 503
    assert "code=" not in refused.text
    assert (await browser.post(auth.url + end, {})).status == 503
    assert (await client.post("/oauth/revoke", dict(form))).status == 503
    assert await tokens(auth).verify(got["access_token"]) is not None
    store.away = False
    assert (await client.post("/oauth/revoke", dict(form))).status == 200
    assert await tokens(auth).verify(got["access_token"]) is None
