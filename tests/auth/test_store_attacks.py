"""Attacks by somebody who reads or writes the store."""

import base64
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from services.auth.attempts import Attempts
from services.auth.refusals import Reason, Refused
from shared import keys
from shared.contracts.wire import SESSION_COOKIE, SIGN_IN_COOKIE
from shared.ids import new_secret
from shared.signing import Seal
from tests.auth.conftest import Auth


async def test_beginning_a_sign_in_stores_nothing_at_all(auth: Auth) -> None:
    """Anybody can begin any number; a full store would let nobody in."""
    before = repr(vars(auth.store))
    page = await auth.browser().get(f"{auth.url}/auth/start?return_to=/apps/{'x' * 1900}")
    assert page.status == 303
    assert repr(vars(auth.store)) == before


async def test_the_cookie_of_the_longest_way_back_is_one_that_browsers_keep(auth: Auth) -> None:
    page = await auth.browser().get(f"{auth.url}/auth/start?return_to=/apps/{'x' * 1900}")
    assert len(SIGN_IN_COOKIE) + len(page.cookies[SIGN_IN_COOKIE].value) < 4000


async def test_an_attempt_says_nothing_to_whoever_reads_the_cookie(auth: Auth) -> None:
    browser = auth.browser()
    question = await auth.start(browser)
    cookie = browser.cookie(auth.url, SIGN_IN_COOKIE) or ""
    opened = base64.urlsafe_b64decode(cookie + "=" * (-len(cookie) % 4))
    state = parse_qs(urlsplit(question.location).query)["state"][0]
    assert state.encode() not in opened
    assert b"verifier" not in opened


async def test_an_attempt_cannot_be_used_again_in_another_spelling(auth: Auth) -> None:
    """The last letter of base64 carries bits that mean nothing: other text, the same bytes."""
    for path in ("/auth/start", "/auth/start?return_to=/apps/x", "/auth/start?return_to=/apps/xy"):
        browser = auth.browser()
        answer = await auth.choose(browser, await auth.start(browser, path))
        cookie = browser.cookie(auth.url, SIGN_IN_COOKIE) or ""
        await browser.get(answer, "cross-site")
        for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
            auth.clock.now += 3  # slower than the limit on failures
            browser.plant(auth.url, SIGN_IN_COOKIE, cookie[:-1] + letter)
            page = await browser.get(answer, "cross-site")
            assert page.status == 400
            assert "This sign-in" in page.text


@pytest.mark.parametrize("seconds", [599, 601])
async def test_an_attempt_has_ten_minutes_however_long_the_browser_keeps_it(
    auth: Auth, seconds: int
) -> None:
    attempts = Attempts(auth.store, auth.seal, auth.clock, auth.config.provider.issuer)
    started = attempts.begin("/", trusted=True)
    auth.clock.now += seconds
    if seconds < 600:
        assert (await attempts.take(started.cookie)).state == started.attempt.state
    else:
        with pytest.raises(Refused) as refused:
            await attempts.take(started.cookie)
        assert refused.value.reason is Reason.COOKIE_MISSING


async def test_an_attempt_sealed_by_somebody_else_is_none(auth: Auth) -> None:
    issuer = auth.config.provider.issuer
    forger = Attempts(auth.store, Seal([b"a" * 32], b"i" * 32), auth.clock, issuer)
    attempts = Attempts(auth.store, auth.seal, auth.clock, issuer)
    with pytest.raises(Refused) as refused:
        await attempts.take(forger.begin("/", trusted=True).cookie)
    assert refused.value.reason is Reason.COOKIE_MISSING


async def test_a_writer_of_the_store_cannot_mint_a_session(auth: Auth) -> None:
    """He knows the form of a record and chooses the cookie, but has not the key of the seal."""
    ada = await auth.signed_in()
    sessions = auth.sessions()
    real = sessions.digest(ada.cookie(auth.url, SESSION_COOKIE) or "")
    session = await sessions.find(real)
    sealed = await auth.store.get(keys.SESSION.key(real))
    assert session is not None
    assert sealed is not None
    cookie = new_secret()
    key = keys.SESSION.key(sessions.digest(cookie))
    record = session.model_dump(mode="json")
    foreign = Seal([b"a" * 32], b"i" * 32).seal(key, record, session.expires)
    attempts = {
        "plain": json.dumps({"exp": session.expires, "rec": record}).encode(),
        "sealed with another key": foreign,
        "another session's": sealed,
        "cut": sealed[:20],
        "empty": b"",
        "one bit off": sealed[:-1] + bytes([sealed[-1] ^ 1]),
    }
    browser = auth.browser()
    browser.plant(auth.url, SESSION_COOKIE, cookie)
    for name, value in attempts.items():
        await auth.store.put(key, value, 3600)
        page = await browser.get(f"{auth.url}/auth/tokens")
        assert page.status == 303, name
        assert "/auth/sign-in" in page.location, name


async def test_nothing_is_stored_in_the_clear(auth: Auth) -> None:
    browser = auth.browser()
    question = await auth.start(browser)
    state = parse_qs(urlsplit(question.location).query)["state"][0]
    cookie = browser.cookie(auth.url, SIGN_IN_COOKIE) or ""
    await browser.get(await auth.choose(browser, question), "cross-site")
    session = browser.cookie(auth.url, SESSION_COOKIE) or ""
    dump = repr(vars(auth.store))
    assert session
    for secret in (state, cookie, session, "ada@strad.test", "Lovelace"):
        assert secret not in dump
