"""Who tries without end is told to wait: by address for failures, by person for tokens."""

from services.auth.limits import FAILURES, TOKENS
from shared.contracts.wire import LINK_COOKIE
from tests.auth.browser import Page
from tests.auth.conftest import Auth
from tests.auth.tokens import create


async def guess(auth: Auth, address: str, times: int = 1) -> Page:
    """Guesses at a link, as the edge passes them on, which is on this machine."""
    page = None
    for number in range(times):
        browser = auth.browser()
        browser.plant(auth.url, LINK_COOKIE, f"{number:043}")
        page = await browser.get(f"{auth.url}/auth/link", X_Forwarded_For=address)
    assert page is not None
    return page


async def guess_state(auth: Auth, address: str, times: int = 1) -> Page:
    """The same at the answer of a sign-in that has begun."""
    page = None
    for _ in range(times):
        browser = auth.browser()
        await auth.start(browser)
        where = f"{auth.url}/auth/callback?code=x&state=x"
        page = await browser.get(where, "cross-site", X_Forwarded_For=address)
    assert page is not None
    return page


async def told(auth: Auth, address: str) -> Page:
    """A made-up logout token."""
    form, where = {"logout_token": "x"}, f"{auth.url}/auth/back-channel-logout"
    return await auth.browser().post(where, form, origin=None, X_Forwarded_For=address)


def start_of_a_minute(auth: Auth) -> None:
    auth.clock.now = (auth.clock.now // 60 + 1) * 60


async def test_an_address_that_fails_too_often_has_to_wait_and_nobody_else(auth: Auth) -> None:
    start_of_a_minute(auth)
    assert (await guess(auth, "203.0.113.5", times=FAILURES)).status == 400
    page = await guess(auth, "203.0.113.5")
    assert (page.status, page.headers["Retry-After"]) == (429, "60")
    assert "Too many attempts." in page.text
    assert (await guess_state(auth, "203.0.113.5")).status == 429
    assert (await told(auth, "203.0.113.5")).status == 429
    assert (await guess(auth, "203.0.113.6")).status == 400
    assert "203.0.113" not in repr(vars(auth.store))
    auth.clock.now += 60
    assert (await guess(auth, "203.0.113.5")).status == 400


async def test_made_up_states_and_logout_tokens_count_too(auth: Auth) -> None:
    start_of_a_minute(auth)
    assert (await guess_state(auth, "203.0.113.5", times=FAILURES - 1)).status == 400
    assert (await told(auth, "203.0.113.5")).status == 400
    assert (await told(auth, "203.0.113.5")).status == 429


async def test_a_text_of_the_callers_own_does_not_change_where_it_comes_from(auth: Auth) -> None:
    start_of_a_minute(auth)
    for number in range(FAILURES):
        await guess(auth, f"198.51.100.{number}, 203.0.113.5")
    assert (await guess(auth, "198.51.100.99, 203.0.113.5")).status == 429


async def test_signing_in_is_no_failure_however_many_do_it_from_one_office(auth: Auth) -> None:
    start_of_a_minute(auth)
    for _ in range(FAILURES + 1):
        await auth.signed_in()


async def test_a_provider_that_fails_is_nobodys_failure(auth: Auth) -> None:
    start_of_a_minute(auth)
    auth.faults.set("token_error", "invalid_client")
    for _ in range(FAILURES + 1):
        assert (await auth.sign_in(auth.browser())).status == 503


async def test_a_person_makes_so_many_tokens_a_minute(auth: Auth) -> None:
    browser = await auth.signed_in()
    start_of_a_minute(auth)
    for number in range(TOKENS):
        form = {"label": f"n{number}", "life": "86400"}
        assert (await create(auth, browser, form)).status == 200
    refused = await create(auth, browser, {"label": "more", "life": "86400"})
    assert refused.status == 429
    auth.clock.now += 60
    assert (await create(auth, browser, {"label": "more", "life": "86400"})).status == 200
