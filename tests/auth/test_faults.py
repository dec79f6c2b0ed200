"""Every way in which the demo's provider can misbehave: a page that names it, and no session."""

from typing import Any

import pytest

from demo.provider.faults import Faults
from services.auth.refusals import TEXTS, Reason
from shared.contracts.wire import SESSION_COOKIE
from tests.auth.conftest import Auth, StartBoth

# switch -> (value, reason, status)
FAULTS: dict[str, tuple[Any, Reason, int]] = {
    "wrong_audience": (True, Reason.TOKEN_AUDIENCE, 400),
    "wrong_nonce": (True, Reason.TOKEN_NONCE, 400),
    "wrong_issuer": (True, Reason.TOKEN_ISSUER, 400),
    "wrong_at_hash": (True, Reason.TOKEN_AT_HASH, 400),
    "unknown_kid": (True, Reason.TOKEN_KEY, 400),
    "alg_none": (True, Reason.TOKEN_ALGORITHM, 400),
    "hs256": (True, Reason.TOKEN_ALGORITHM, 400),
    "expired": (True, Reason.TOKEN_EXPIRED, 400),
    "future": (True, Reason.TOKEN_FROM_THE_FUTURE, 400),
    "unverified_email": (True, Reason.EMAIL_UNVERIFIED, 403),
    "no_email": (True, Reason.EMAIL_MISSING, 403),
    "other_domain": (True, Reason.NOT_ALLOWED, 403),
    "wrong_answer_issuer": (True, Reason.ANSWER_ISSUER, 400),
    "jwks_down": (True, Reason.PROVIDER_DOWN, 503),
    "token_error": ("invalid_grant", Reason.CODE_REFUSED, 400),
}
BEFORE_THE_PROVIDER = {"discovery_wrong_issuer", "slow"}


def test_every_switch_of_the_provider_is_tested_here() -> None:
    assert FAULTS.keys() | BEFORE_THE_PROVIDER == Faults().documented().keys()


@pytest.mark.parametrize("switch", FAULTS)
async def test_a_misbehaving_provider_signs_nobody_in(auth: Auth, switch: str) -> None:
    value, reason, status = FAULTS[switch]
    browser = auth.browser()
    auth.faults.set(switch, value)
    page = await auth.sign_in(browser)
    _, title, advice = TEXTS[reason]
    assert page.status == status
    assert title in page.text.replace("&#39;", "'")
    assert advice in page.text.replace("&#39;", "'")
    assert f"Reason: <code>{reason}</code>" in page.text
    assert SESSION_COOKIE not in page.cookies
    assert not await auth.has_session(browser)
    auth.faults.reset()
    again = await browser.get(page.link("Start again"), "same-origin")
    if switch == "jwks_down":
        auth.clock.now += 2
    done = await browser.get(await auth.choose(browser, again), "cross-site")
    assert done.status == 200, done.text
    assert await auth.has_session(browser)


async def test_a_provider_that_names_another_issuer_is_not_used(auth: Auth) -> None:
    auth.faults.set("discovery_wrong_issuer", True)
    page = await auth.browser().get(f"{auth.url}/auth/start")
    assert page.status == 503
    assert "Reason: <code>provider-unusable</code>" in page.text
    assert not page.cookies


@pytest.mark.parametrize("path", ["/auth/start", "callback"])
async def test_a_provider_that_does_not_answer_in_time_is_named(
    start_both: StartBoth, path: str
) -> None:
    auth = await start_both(timeout=0.2)
    browser = auth.browser()
    if path == "callback":
        path = (await auth.choose(browser, await auth.start(browser))).removeprefix(auth.url)
    auth.faults.set("slow", 5)
    page = await browser.get(auth.url + path)
    assert page.status == 503
    assert "Reason: <code>provider-down</code>" in page.text
    assert not await auth.has_session(browser)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("invalid_client", Reason.CLIENT_REFUSED),
        ("unauthorized_client", Reason.CLIENT_REFUSED),
        ("invalid_request", Reason.CODE_REFUSED),
        ("<b>odd</b>", Reason.CODE_REFUSED),
    ],
)
async def test_what_the_token_endpoint_says_decides_the_page(
    auth: Auth, error: str, reason: Reason
) -> None:
    auth.faults.set("token_error", error)
    page = await auth.sign_in(auth.browser())
    assert f"Reason: <code>{reason}</code>" in page.text
    assert "<b>odd" not in page.text


async def test_a_cancelled_sign_in_says_so(auth: Auth) -> None:
    browser = auth.browser()
    page = await auth.sign_in(browser, None)
    assert page.status == 400
    assert "You cancelled the sign-in." in page.text
    assert not await auth.has_session(browser)


async def test_who_is_not_allowed_is_offered_another_account(auth: Auth) -> None:
    auth.faults.set("other_domain", True)
    browser = auth.browser()
    page = await auth.sign_in(browser, path="/auth/start?return_to=/apps/toys")
    link = page.link("Use another account")
    assert link == f"{auth.url}/auth/start?choose=1&return_to=%2Fapps%2Ftoys"
    question = await browser.get(link, "same-origin")
    assert "prompt=select_account" in question.location


async def test_who_failed_for_another_reason_is_not_offered_another_account(auth: Auth) -> None:
    page = await auth.sign_in(auth.browser(), None)
    assert "Use another account" not in page.text


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_page_that_says_what_to_do(reason: Reason) -> None:
    _, title, advice = TEXTS[reason]
    assert title.endswith(".")
    assert 20 < len(advice) < 250


def test_no_two_reasons_share_a_title() -> None:
    titles = [title for _, title, _ in TEXTS.values()]
    assert len(set(titles)) == len(titles)
