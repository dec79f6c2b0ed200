"""A token may outlive a session by months, so it wants a sign-in of the last ten minutes."""

from urllib.parse import parse_qs, urlsplit

import pytest

from shared.contracts.wire import SESSION_COOKIE
from tests.auth.browser import Browser
from tests.auth.conftest import Auth
from tests.auth.tokens import create, make

EARLIER = 11 * 60


async def auth_time(auth: Auth, browser: Browser) -> int | None:
    sessions = auth.sessions()
    found = await sessions.find(sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or ""))
    assert found is not None
    return found.auth_time


async def test_an_old_session_makes_no_token_and_still_revokes_one(auth: Auth) -> None:
    browser = await auth.signed_in()
    await make(auth, browser)
    auth.clock.now += EARLIER
    page = await browser.get(f"{auth.url}/auth/tokens")
    assert "Create token" not in page.text
    assert "Laptop" in page.text
    refused = await create(auth, browser, {"label": "Second", "life": "86400"})
    assert refused.status == 403
    assert "a sign-in of the last ten minutes" in refused.text
    assert "Second" not in (await browser.get(f"{auth.url}/auth/tokens")).text
    path = page.text.split('action="/auth/tokens/')[1].split('"')[0]
    assert (await browser.post(f"{auth.url}/auth/tokens/{path}", {})).status == 303
    assert "Create one above" not in (await browser.get(f"{auth.url}/auth/tokens")).text


async def test_signing_in_again_asks_the_provider_for_a_proof_that_is_young(auth: Auth) -> None:
    browser = await auth.signed_in()
    auth.clock.now += EARLIER
    page = await browser.get(f"{auth.url}/auth/tokens")
    question = await browser.get(page.link("Sign in again"), "same-origin")
    assert parse_qs(urlsplit(question.location).query)["max_age"] == ["600"]
    answer = await browser.get(await auth.choose(browser, question), "cross-site")
    assert 'content="0;url=/auth/tokens"' in answer.text
    await make(auth, browser)


async def test_a_new_session_over_an_old_proof_at_the_provider_is_not_fresh(auth: Auth) -> None:
    """Single sign-on: the provider lets somebody in whom it asked hours ago."""
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    auth.clock.now += 40
    await browser.get(answer, "cross-site")
    proved = await auth_time(auth, browser)
    assert proved is not None
    assert proved <= auth.clock.now - 39
    auth.clock.now += 550
    assert "Create token" in (await browser.get(f"{auth.url}/auth/tokens")).text
    auth.clock.now += 30
    assert "Create token" not in (await browser.get(f"{auth.url}/auth/tokens")).text


@pytest.mark.parametrize("path", ["/auth/start", "/auth/start?choose=1"])
async def test_nobody_else_is_asked_for_more_than_usual(auth: Auth, path: str) -> None:
    question = await auth.start(auth.browser(), path)
    assert "max_age" not in parse_qs(urlsplit(question.location).query)
