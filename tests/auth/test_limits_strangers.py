"""A page elsewhere sends its visitors' browsers here without end: nobody's sign-in suffers."""

import pytest

from services.auth.limits import FAILURES
from shared.contracts.wire import LINK_COOKIE
from tests.auth.browser import Browser
from tests.auth.conftest import Auth
from tests.auth.test_limits import start_of_a_minute

OFFICE = "203.0.113.5"


async def images(auth: Auth, path: str) -> None:
    """As `<img src>` elsewhere, once more than the limit: no cookie goes with it, none is kept."""
    for _ in range(FAILURES + 1):
        page = await Browser(auth.http).get(auth.url + path, "cross-site", X_Forwarded_For=OFFICE)
        if page.status == 303:
            page = await Browser(auth.http).get(page.location, "cross-site", X_Forwarded_For=OFFICE)
        assert page.status == 400


@pytest.mark.parametrize(
    "path", ["/auth/callback?code=x&state=x", "/auth/link", f"/auth/link?token={'A' * 43}"]
)
async def test_images_on_a_page_elsewhere_lock_no_office_out(auth: Auth, path: str) -> None:
    start_of_a_minute(auth)
    await images(auth, path)
    browser = auth.browser()
    question = await auth.start(browser)
    answer = await auth.choose(browser, question)
    signed_in = await browser.get(answer, "cross-site", X_Forwarded_For=OFFICE)
    assert signed_in.status == 200, signed_in.text


async def test_nor_do_forms_that_a_page_posts(auth: Auth) -> None:
    start_of_a_minute(auth)
    where, form = f"{auth.url}/auth/back-channel-logout", {"logout_token": "x"}
    for origin in ("https://evil.test", "null", "own"):
        for _ in range(FAILURES):
            page = await auth.browser().post(
                where, form, origin=origin, site="cross-site", X_Forwarded_For=OFFICE
            )
            assert page.status == 403
    page = await auth.browser().get(f"{auth.url}/auth/link", X_Forwarded_For=OFFICE)
    assert page.status == 400


async def test_without_a_link_the_page_says_to_open_it_once_more(auth: Auth) -> None:
    page = await auth.browser().get(f"{auth.url}/auth/link")
    assert "There is no sign-in link in this browser." in page.text
    browser = auth.browser()
    browser.plant(auth.url, LINK_COOKIE, "A" * 43)
    assert "does not work any more" in (await browser.get(f"{auth.url}/auth/link")).text
