"""Signing in and out, as it should go."""

from urllib.parse import parse_qs, urlsplit

import pytest

from shared.contracts.identity import SessionKind
from shared.contracts.wire import SESSION_COOKIE, SIGN_IN_COOKIE
from tests.auth.conftest import ADA, CHARLES, Auth, StartAuth, StartBoth


async def test_the_sign_in_page_has_one_button_that_leads_to_the_provider(auth: Auth) -> None:
    browser = auth.browser()
    page = await browser.get(f"{auth.url}/auth/sign-in")
    assert page.status == 200
    link = page.link("Sign in with 127.0.0.1")
    assert link == f"{auth.url}/auth/start"
    question = await browser.get(link, "same-origin")
    assert question.status == 303
    asked = {name: value[0] for name, value in parse_qs(urlsplit(question.location).query).items()}
    assert asked.keys() == {
        *("response_type", "client_id", "redirect_uri", "scope", "state", "nonce"),
        *("code_challenge", "code_challenge_method"),
    }
    assert asked["response_type"] == "code"
    assert asked["code_challenge_method"] == "S256"
    assert asked["redirect_uri"] == f"{auth.url}/auth/callback"
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3


async def test_googles_button_says_google(start_auth: StartAuth) -> None:
    auth = await start_auth("https://accounts.google.com")
    page = await auth.browser().get(f"{auth.url}/auth/sign-in")
    assert "Sign in with Google" in page.text


async def test_a_provider_is_called_as_the_operator_calls_it(start_auth: StartAuth) -> None:
    auth = await start_auth("https://id.test", provider={"name": "Acme <b>account</b>"})
    page = await auth.browser().get(f"{auth.url}/auth/sign-in")
    assert "Sign in with Acme &lt;b&gt;account&lt;/b&gt;" in page.text


async def test_a_person_signs_in_and_the_session_tells_who_it_is(auth: Auth) -> None:
    browser = await auth.signed_in()
    sessions = auth.sessions()
    session = await sessions.find(sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or ""))
    assert session is not None
    assert session.kind is SessionKind.OIDC
    assert (session.person.email, session.person.name) == ("ada@strad.test", "Ada Lovelace")
    assert (session.person.issuer, session.person.sub) == (auth.issuer, ADA)
    assert session.expires - session.created == auth.config.sessions.absolute


async def test_two_people_are_two_subjects(auth: Auth) -> None:
    found = set()
    for person in (ADA, CHARLES):
        browser = await auth.signed_in(person)
        sessions = auth.sessions()
        digest = sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or "")
        session = await sessions.find(digest)
        assert session is not None
        found.add(session.person.subject)
    assert len(found) == 2


@pytest.mark.parametrize(("name", "seconds"), [(SESSION_COOKIE, 24 * 3600), (SIGN_IN_COOKIE, 600)])
async def test_cookies_are_bound_to_this_host_and_hidden_from_script(
    auth: Auth, name: str, seconds: int
) -> None:
    browser = auth.browser()
    question = await auth.start(browser)
    callback = await browser.get(await auth.choose(browser, question), "cross-site")
    morsel = {**question.cookies, **callback.cookies}[name]
    assert name.startswith("__Host-")
    assert morsel["secure"] is True
    assert morsel["httponly"] is True
    assert morsel["samesite"] == "Lax"
    assert morsel["path"] == "/"
    assert morsel["domain"] == ""
    assert morsel["max-age"] == str(seconds)
    if name == SESSION_COOKIE:
        assert len(morsel.value) == 43  # 256 bits


async def test_who_came_on_their_own_is_led_on_by_a_page_of_ours(auth: Auth) -> None:
    page = await auth.sign_in(auth.browser(), path="/auth/start?return_to=/apps/toys?shelf=2")
    assert page.status == 200
    assert '<meta http-equiv="refresh" content="0;url=/apps/toys?shelf=2">' in page.text
    assert page.link("Go on to") == f"{auth.url}/apps/toys?shelf=2"
    assert '<meta name="referrer" content="no-referrer">' in page.text
    assert "<script" not in page.text
    assert page.headers["Cache-Control"] == "no-store"


async def test_who_followed_a_strangers_link_arrives_as_from_another_site(auth: Auth) -> None:
    browser = auth.browser()
    card = await browser.get(f"{auth.url}/auth/sign-in?return_to=/apps/toys", "cross-site")
    start = card.link("Sign in with")
    question = await browser.get(start, "same-origin")  # the click on our page is our own
    page = await browser.get(await auth.choose(browser, question), "cross-site")
    assert page.status == 303
    assert page.location == f"{auth.url}/apps/toys"
    assert await auth.has_session(browser)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "SAME-ORIGIN", "odd", None])
async def test_a_strangers_link_past_the_sign_in_page_is_not_trusted_either(
    auth: Auth, site: str | None
) -> None:
    browser = auth.browser()
    question = await browser.get(f"{auth.url}/auth/start?return_to=/apps/toys", site)
    page = await browser.get(await auth.choose(browser, question), "cross-site")
    assert page.status == 303


async def test_the_way_back_from_a_failure_keeps_the_mark_of_a_strangers_link(auth: Auth) -> None:
    browser = auth.browser()
    question = await browser.get(f"{auth.url}/auth/start?return_to=/apps/toys", "cross-site")
    failed = await browser.get(await auth.choose(browser, question, None), "cross-site")
    question = await browser.get(failed.link("Start again"), "same-origin")
    page = await browser.get(await auth.choose(browser, question), "cross-site")
    assert page.status == 303
    assert page.location == f"{auth.url}/apps/toys"


async def test_who_is_signed_in_already_is_sent_on(auth: Auth) -> None:
    browser = await auth.signed_in()
    page = await browser.get(f"{auth.url}/auth/sign-in?return_to=/apps/toys")
    assert page.status == 303
    assert page.location == f"{auth.url}/apps/toys"


async def test_a_marked_link_does_not_bounce_who_is_signed_in(auth: Auth) -> None:
    browser = await auth.signed_in()
    page = await browser.get(f"{auth.url}/auth/sign-in?return_to=/apps/toys&via=link")
    assert page.status == 200


async def test_another_account_can_be_chosen(auth: Auth) -> None:
    question = await auth.start(auth.browser(), "/auth/start?choose=1")
    assert parse_qs(urlsplit(question.location).query)["prompt"] == ["select_account"]


async def test_signing_in_again_ends_the_old_session(auth: Auth) -> None:
    browser = await auth.signed_in()
    old = browser.cookie(auth.url, SESSION_COOKIE) or ""
    await auth.sign_in(browser)
    new = browser.cookie(auth.url, SESSION_COOKIE) or ""
    sessions = auth.sessions()
    assert new != old
    assert await sessions.find(sessions.digest(new)) is not None
    assert await sessions.find(sessions.digest(old)) is None


async def test_signing_out_ends_the_session_and_clears_the_cookie(auth: Auth) -> None:
    browser = await auth.signed_in()
    old = browser.cookie(auth.url, SESSION_COOKIE) or ""
    page = await browser.post(f"{auth.url}/auth/sign-out", {})
    assert page.status == 303
    assert page.cookies[SESSION_COOKIE]["max-age"] == "0"
    assert browser.cookie(auth.url, SESSION_COOKIE) is None
    sessions = auth.sessions()
    assert await sessions.find(sessions.digest(old)) is None
    assert "Clear-Site-Data" not in page.headers  # browsers take it over https only
    after = await browser.get(page.location, "same-origin")
    assert after.status == 200
    assert "signed out" in after.text


async def test_signing_out_ends_one_browser_and_not_the_other(auth: Auth) -> None:
    one, other = await auth.signed_in(), await auth.signed_in()
    await one.post(f"{auth.url}/auth/sign-out", {})
    assert await auth.has_session(other)


async def test_signing_out_twice_is_fine(auth: Auth) -> None:
    browser = auth.browser()
    assert (await browser.post(f"{auth.url}/auth/sign-out", {})).status == 303


async def test_over_https_signing_out_also_clears_what_a_back_button_could_show(
    start_both: StartBoth,
) -> None:
    auth = await start_both(public_url="https://strad.example.com")
    page = await auth.browser().post(
        f"{auth.url}/auth/sign-out",
        {},
        origin="https://strad.example.com",
        Host="strad.example.com",
    )
    assert page.status == 303
    assert page.headers["Clear-Site-Data"] == '"cache"'
    assert page.headers["Strict-Transport-Security"].startswith("max-age=31536000")


async def test_a_session_ends_at_its_absolute_end(auth: Auth) -> None:
    browser = await auth.signed_in()
    auth.clock.now += auth.config.sessions.absolute
    assert not await auth.has_session(browser)
    page = await browser.get(f"{auth.url}/auth/tokens")
    assert page.location == f"{auth.url}/auth/sign-in?return_to=%2Fauth%2Ftokens"


async def test_a_session_that_nobody_uses_ends_early(auth: Auth) -> None:
    browser = await auth.signed_in()
    auth.clock.now += auth.config.sessions.idle + 1
    assert not await auth.has_session(browser)
