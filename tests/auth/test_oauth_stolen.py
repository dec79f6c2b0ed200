"""A stolen cookie is no client: what a client gets outlives the session that allowed it."""

from urllib.parse import parse_qs, urlsplit

from shared.contracts.wire import SESSION_COOKIE
from tests.auth.browser import Browser
from tests.auth.conftest import Auth
from tests.auth.oauth_client import OAuthClient, answer, answered

EARLIER = 11 * 60


def thief_of(auth: Auth, browser: Browser) -> Browser:
    """Another browser with the same cookie."""
    thief = auth.browser()
    thief.plant(auth.url, SESSION_COOKIE, browser.cookie(auth.url, SESSION_COOKIE) or "")
    return thief


async def test_an_old_session_connects_no_client(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    auth.clock.now += 300
    asked = await client.ask(browser)
    auth.clock.now += 301
    thief = thief_of(auth, browser)
    page = await client.ask(thief)
    assert "a sign-in of the last ten minutes" in page.text
    assert 'name="request"' not in page.text
    refused = await answer(thief, asked)
    assert refused.status == 403
    assert "code=" not in refused.text


async def test_nor_does_it_take_a_code_of_one_that_was_connected_before(auth: Auth) -> None:
    """The thief asks as that client does, with a verifier of his own."""
    browser = await auth.signed_in()
    client = OAuthClient(auth, redirect="https://app.example.com/cb")
    await client.connected(browser)
    auth.clock.now += EARLIER
    thieves = OAuthClient(auth, id=client.id, redirect=client.redirect)
    page = await thieves.ask(thief_of(auth, browser))
    assert page.status == 200
    assert "Location" not in page.headers
    assert "code=" not in page.text


async def test_refusing_needs_no_new_sign_in(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    auth.clock.now += 300
    asked = await client.ask(browser)
    auth.clock.now += 301
    assert answered(await answer(browser, asked, allow=False))["error"] == "access_denied"


async def test_who_signs_in_again_is_asked_at_once(auth: Auth) -> None:
    browser, client = await auth.signed_in(), OAuthClient(auth)
    await client.register()
    auth.clock.now += EARLIER
    page = await client.ask(browser)
    question = await browser.get(page.link("Sign in again"), "same-origin")
    assert parse_qs(urlsplit(question.location).query)["max_age"] == ["600"]
    done = await browser.get(await auth.choose(browser, question), "cross-site")
    asked = await browser.get(done.location, "cross-site")
    told = answered(await answer(browser, asked))
    assert (await client.redeem(told["code"])).status == 200
