"""Who tries without end is told to wait: by address for failures, by person for tokens."""

from services.auth.limits import FAILURES, TOKENS
from tests.auth.browser import Page
from tests.auth.conftest import Auth
from tests.auth.tokens import create

GUESS = "/auth/callback?code=x&state=x"


async def guess(auth: Auth, address: str, path: str = GUESS, times: int = 1) -> Page:
    """As the edge passes a request on, which is on this machine."""
    page = None
    for _ in range(times):
        page = await auth.browser().get(auth.url + path, X_Forwarded_For=address)
    assert page is not None
    return page


def start_of_a_minute(auth: Auth) -> None:
    auth.clock.now = (auth.clock.now // 60 + 1) * 60


async def test_an_address_that_fails_too_often_has_to_wait_and_nobody_else(auth: Auth) -> None:
    start_of_a_minute(auth)
    assert (await guess(auth, "203.0.113.5", times=FAILURES)).status == 400
    page = await guess(auth, "203.0.113.5")
    assert (page.status, page.headers["Retry-After"]) == (429, "60")
    assert "Too many attempts." in page.text
    assert (await guess(auth, "203.0.113.5", "/auth/link")).status == 429
    form = {"logout_token": "x"}
    told = await auth.browser().post(
        f"{auth.url}/auth/back-channel-logout", form, X_Forwarded_For="203.0.113.5"
    )
    assert told.status == 429
    assert (await guess(auth, "203.0.113.6")).status == 400
    assert "203.0.113" not in repr(vars(auth.store))
    auth.clock.now += 60
    assert (await guess(auth, "203.0.113.5")).status == 400


async def test_made_up_links_and_logout_tokens_count_too(auth: Auth) -> None:
    start_of_a_minute(auth)
    await guess(auth, "203.0.113.5", "/auth/link", times=FAILURES - 1)
    form = {"logout_token": "x"}
    browser = auth.browser()
    url = f"{auth.url}/auth/back-channel-logout"
    assert (await browser.post(url, form, X_Forwarded_For="203.0.113.5")).status == 400
    assert (await browser.post(url, form, X_Forwarded_For="203.0.113.5")).status == 429


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
