"""Attacks by somebody who reads or writes the store."""

import json
from urllib.parse import parse_qs, urlsplit

from shared import keys
from shared.contracts.wire import SESSION_COOKIE, SIGN_IN_COOKIE
from shared.ids import new_secret
from shared.signing import Seal
from tests.auth.browser import assert_refused
from tests.auth.conftest import Auth


async def test_a_writer_of_the_store_cannot_stretch_the_ten_minutes(auth: Auth) -> None:
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    cookie = browser.cookie(auth.url, SIGN_IN_COOKIE) or ""
    key = keys.SIGN_IN.key(auth.seal.digest("sign-in", cookie))
    sealed = await auth.store.get(key)
    assert sealed is not None
    await auth.store.put(key, sealed, 7200)
    auth.clock.now += 601
    assert_refused(await browser.get(answer, "cross-site"), "cookie-missing")


async def test_a_writer_of_the_store_cannot_move_an_attempt_to_another_browser(auth: Auth) -> None:
    attacker, victim = auth.browser(), auth.browser()
    answer = await auth.choose(attacker, await auth.start(attacker))
    await auth.start(victim)
    here, there = (
        keys.SIGN_IN.key(auth.seal.digest("sign-in", b.cookie(auth.url, SIGN_IN_COOKIE) or ""))
        for b in (attacker, victim)
    )
    sealed = await auth.store.get(here)
    assert sealed is not None
    await auth.store.put(there, sealed, 600)
    assert_refused(await victim.get(answer, "cross-site"), "cookie-missing")


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
