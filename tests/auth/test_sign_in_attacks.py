"""Attacks on a sign-in: replayed, mixed up, planted, forged, or sent from elsewhere."""

import asyncio
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from shared.contracts.wire import SESSION_COOKIE, SIGN_IN_COOKIE
from shared.ids import new_secret
from tests.auth.browser import assert_refused
from tests.auth.conftest import CHARLES, Auth


def changed(url: str, **parameters: str | None) -> str:
    """An address with other parameters; None takes one out."""
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()} | parameters
    kept = {name: value for name, value in query.items() if value is not None}
    return parts._replace(query=urlencode(kept)).geturl()


async def test_an_answer_works_once(auth: Auth) -> None:
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    assert (await browser.get(answer, "cross-site")).status == 200
    assert_refused(await browser.get(answer, "cross-site"), "already-used")
    assert await auth.has_session(browser)  # the first one stands


async def test_an_answer_is_worth_nothing_in_another_browser(auth: Auth) -> None:
    """The one-click takeover: the attacker's answer, opened by the victim."""
    attacker, victim = auth.browser(), auth.browser()
    answer = await auth.choose(attacker, await auth.start(attacker))
    assert_refused(await victim.get(answer, "cross-site"), "cookie-missing")
    assert not await auth.has_session(victim)


async def test_an_answer_is_worth_nothing_in_a_browser_with_a_sign_in_of_its_own(
    auth: Auth,
) -> None:
    attacker, victim = auth.browser(), auth.browser()
    answer = await auth.choose(attacker, await auth.start(attacker))
    await auth.start(victim)
    assert_refused(await victim.get(answer, "cross-site"), "state-mismatch")
    assert not await auth.has_session(victim)


async def test_somebody_elses_code_cannot_be_put_into_ones_own_sign_in(auth: Auth) -> None:
    """Code injection: right state, right browser, a code that was given to another sign-in."""
    attacker, victim = auth.browser(), auth.browser()
    stolen = parse_qs(urlsplit(await auth.choose(victim, await auth.start(victim))).query)["code"]
    own = await auth.choose(attacker, await auth.start(attacker), CHARLES)
    page = await attacker.get(changed(own, code=stolen[0]), "cross-site")
    assert_refused(page, "code-refused")  # the provider sees a wrong PKCE verifier
    assert not await auth.has_session(attacker)


@pytest.mark.parametrize("state", ["", "x", "x" * 43, "%FF", "é"])
async def test_a_wrong_state_is_refused(auth: Auth, state: str) -> None:
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    right = parse_qs(urlsplit(answer).query)["state"][0]
    page = await browser.get(answer.replace(right, state), "cross-site")
    assert_refused(page, "state-mismatch")


@pytest.mark.parametrize("form", ["state={s}&state={s}", "state={s}&state=other"])
async def test_a_state_given_twice_is_refused(auth: Auth, form: str) -> None:
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    right = parse_qs(urlsplit(answer).query)["state"][0]
    page = await browser.get(answer.replace(f"state={right}", form.format(s=right)), "cross-site")
    assert_refused(page, "state-mismatch")


async def test_a_wrong_state_uses_the_attempt_up(auth: Auth) -> None:
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    await browser.get(changed(answer, state="guess"), "cross-site")
    assert_refused(await browser.get(answer, "cross-site"), "already-used")


@pytest.mark.parametrize("cookie", ["", "x", "x" * 43, "x" * 65, "x" * 4000, "a/../b", "\xff\xfe"])
async def test_a_made_up_cookie_names_nothing(auth: Auth, cookie: str) -> None:
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    browser.plant(auth.url, SIGN_IN_COOKIE, cookie)
    page = await browser.get(answer, "cross-site")
    assert page.status == 400
    assert not await auth.has_session(browser)


async def test_a_sign_in_has_ten_minutes(auth: Auth) -> None:
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    auth.clock.now += 600
    page = await browser.get(answer, "cross-site")
    assert page.status == 400
    assert not await auth.has_session(browser)


async def test_a_planted_session_cookie_is_never_the_name_of_a_session(auth: Auth) -> None:
    """Session fixation."""
    planted = new_secret()
    browser = auth.browser()
    browser.plant(auth.url, SESSION_COOKIE, planted)
    await auth.sign_in(browser)
    assert browser.cookie(auth.url, SESSION_COOKIE) != planted
    sessions = auth.sessions()
    assert await sessions.find(sessions.digest(planted)) is None


async def test_an_attackers_live_session_ends_when_the_victim_signs_in_over_it(auth: Auth) -> None:
    attacker = await auth.signed_in(CHARLES)
    victim = auth.browser()
    victim.plant(auth.url, SESSION_COOKIE, attacker.cookie(auth.url, SESSION_COOKIE) or "")
    await auth.sign_in(victim)
    assert await auth.has_session(victim)
    assert not await auth.has_session(attacker)


async def test_a_failed_sign_in_leaves_the_session_that_was_there(auth: Auth) -> None:
    browser = await auth.signed_in()
    page = await auth.sign_in(browser, None)
    assert_refused(page, "cancelled")
    assert await auth.has_session(browser)


async def test_bytes_that_are_no_text_are_no_session_and_no_error(auth: Auth) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(auth.url).port)
    host = urlsplit(auth.url).netloc.encode()
    cookie = SESSION_COOKIE.encode() + b"=\xff\xfe\x80; " + SIGN_IN_COOKIE.encode() + b"=\xff"
    for path in (b"/auth/tokens", b"/auth/callback?state=%ff&code=%fe"):
        writer.write(b"GET " + path + b" HTTP/1.1\r\nHost: " + host + b"\r\nCookie: " + cookie)
        writer.write(b"\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.split()[1] in {b"303", b"400"}, head
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
        await reader.readexactly(int(length.split()[1]))
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("value", ["\xff", "a b", '"', "x" * 65, "x" * 6000, "%00", "é"])
async def test_an_odd_session_cookie_is_no_session_and_no_error(auth: Auth, value: str) -> None:
    browser = auth.browser()
    page = await browser.get(f"{auth.url}/auth/tokens", Cookie=f"{SESSION_COOKIE}={value}")
    assert page.status == 303


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"error": "access_denied", "code": None}, "cancelled"),
        ({"error": "server_error", "code": None}, "provider-said-no"),
        ({"error": "<script>alert(1)</script>", "code": None}, "provider-said-no"),
        ({"error": "access_denied"}, "cancelled"),  # an error wins over a code
        ({"code": None}, "code-missing"),
        ({"code": ""}, "code-missing"),
        ({"code": "x" * 4097}, "code-missing"),
        ({"code": "made-up"}, "code-refused"),
        ({"iss": None}, "answer-issuer"),
        ({"iss": "https://evil.test"}, "answer-issuer"),
        ({"iss": "https://evil.test", "error": "access_denied"}, "answer-issuer"),
    ],
)
async def test_every_odd_answer_has_its_own_page(
    auth: Auth, query: dict[str, str | None], reason: str
) -> None:
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    page = await browser.get(changed(answer, **query), "cross-site")
    assert_refused(page, reason)
    assert "alert(1)" not in page.text
    assert not await auth.has_session(browser)


async def test_an_error_in_a_strangers_link_is_no_more_than_a_page(auth: Auth) -> None:
    page = await auth.browser().get(
        f"{auth.url}/auth/callback?error=access_denied&error_description=call+555", "cross-site"
    )
    assert_refused(page, "cookie-missing")
    assert "555" not in page.text
