"""Personal access tokens: made, shown once, listed, limited, revoked."""

from datetime import UTC, datetime

import pytest

from shared import keys
from shared.contracts.identity import Session, SessionKind
from shared.contracts.wire import SESSION_COOKIE
from shared.ids import is_token
from shared.signing import Seal
from shared.stores.sessions import SessionWriter
from shared.web import body
from tests.auth.conftest import CHARLES, Auth
from tests.auth.tokens import DAY, GOOD, create, make, reader, shown_token
from tests.slow import unfinished


async def test_a_new_token_is_shown_once_with_a_snippet_for_a_client(auth: Auth) -> None:
    browser = await auth.signed_in()
    page = await create(auth, browser)
    text = shown_token(page)
    assert is_token(text)
    assert page.headers["Cache-Control"] == "no-store"
    assert f"&#34;url&#34;: &#34;{auth.url}/mcp&#34;" in page.text
    assert f"Bearer {text}" in page.text
    later = await browser.get(f"{auth.url}/auth/tokens")
    assert text not in later.text
    assert "Laptop" in later.text


async def test_the_relay_finds_the_person_behind_a_token(auth: Auth) -> None:
    text = await make(auth, await auth.signed_in())
    found = await reader(auth).verify(text)
    assert found is not None
    record = found[1]
    assert record.person.email == "ada@strad.test"
    assert record.servers is None
    assert record.expires - record.created == 30 * DAY


async def test_the_token_itself_is_stored_nowhere(auth: Auth) -> None:
    text = await make(auth, await auth.signed_in())
    assert text not in repr(vars(auth.store))
    assert text[len("strad_pat_") :] not in repr(vars(auth.store))


async def test_a_token_can_be_limited_to_chosen_servers(auth: Auth) -> None:
    browser = await auth.signed_in()
    page = await create(auth, browser, [*GOOD.items(), ("servers", "news"), ("servers", "toys")])
    found = await reader(auth).verify(shown_token(page))
    assert found is not None
    assert found[1].servers == ("news", "toys")
    listed = await browser.get(f"{auth.url}/auth/tokens")
    assert "News, Toys" in listed.text


async def test_a_token_for_one_server_gets_that_servers_own_address(auth: Auth) -> None:
    page = await create(auth, await auth.signed_in(), [*GOOD.items(), ("servers", "toys")])
    assert f"{auth.url}/mcp/toys&#34;" in page.text


async def test_a_person_sees_only_servers_of_their_own(auth: Auth) -> None:
    ada = await (await auth.signed_in()).get(f"{auth.url}/auth/tokens")
    charles = await (await auth.signed_in(CHARLES)).get(f"{auth.url}/auth/tokens")
    assert 'value="toys"' in ada.text
    assert 'value="news"' in ada.text
    assert "ault" not in ada.text
    assert 'value="news"' in charles.text
    assert "oys" not in charles.text


async def test_a_server_of_others_and_one_that_is_not_get_the_same_answer(auth: Auth) -> None:
    browser = await auth.signed_in(CHARLES)
    answers = set()
    for slug in ("toys", "nothing"):
        page = await create(auth, browser, [*GOOD.items(), ("servers", slug)])
        assert page.status == 422
        assert "Choose among your own servers." in page.text
        answers.add(page.text)
    assert len(answers) == 1


async def test_a_revoked_token_is_refused_at_once_and_others_are_not(auth: Auth) -> None:
    browser = await auth.signed_in()
    kept, gone = await make(auth, browser, label="kept"), await make(auth, browser, label="gone")
    found = await reader(auth).verify(gone)
    assert found is not None
    page = await browser.post(f"{auth.url}/auth/tokens/{found[1].id}/revoke", {})
    assert page.status == 303
    assert page.location == f"{auth.url}/auth/tokens?revoked"
    assert await reader(auth).verify(gone) is None
    assert await reader(auth).verify(kept) is not None
    listed = await browser.get(page.location, "same-origin")
    assert "The token is revoked" in listed.text
    assert "gone" not in listed.text


async def test_another_persons_token_cannot_be_revoked_and_seems_not_to_exist(auth: Auth) -> None:
    ada, charles = await auth.signed_in(), await auth.signed_in(CHARLES)
    text = await make(auth, ada)
    found = await reader(auth).verify(text)
    assert found is not None
    foreign = await charles.post(f"{auth.url}/auth/tokens/{found[1].id}/revoke", {})
    unknown = await charles.post(f"{auth.url}/auth/tokens/never-was/revoke", {})
    assert foreign.status == unknown.status == 404
    assert "You have no such token." in foreign.text
    assert await reader(auth).verify(text) is not None


async def test_another_persons_tokens_are_not_listed(auth: Auth) -> None:
    await make(auth, await auth.signed_in(), label="adas own")
    page = await (await auth.signed_in(CHARLES)).get(f"{auth.url}/auth/tokens")
    assert "adas own" not in page.text
    assert "No tokens yet" in page.text


async def test_an_expired_token_is_refused_and_leaves_the_list(auth: Auth) -> None:
    browser = await auth.signed_in()
    text = await make(auth, browser, life=str(DAY), label="short")
    auth.clock.now += DAY
    assert await reader(auth).verify(text) is None
    page = await (await auth.signed_in()).get(f"{auth.url}/auth/tokens")
    assert "short" not in page.text


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (None, "Never"),
        (b"now", "Unknown"),
        (b"\xff", "Unknown"),
        (b"99999999999", "Unknown"),
        (b"-1", "Unknown"),
        ("now", "Today, {} UTC"),
        (b"1000000000", "9\xa0Sep\xa02001, 01:46 UTC"),
    ],
)
async def test_the_last_use_is_what_the_relay_noted(
    auth: Auth, seen: bytes | str | None, words: str
) -> None:
    browser = await auth.signed_in()
    text = await make(auth, browser)
    if seen is not None:
        value = str(int(auth.clock.now)).encode() if isinstance(seen, str) else seen
        await auth.store.put(keys.TOKEN_SEEN.key(reader(auth).digest(text)), value, 60)
    page = await browser.get(f"{auth.url}/auth/tokens")
    now = f"{datetime.fromtimestamp(auth.clock.now, UTC):%H:%M}"
    assert f'<td data-label="Last used">{words.format(now)}</td>' in page.text


async def test_who_used_a_token_last_is_shown_and_only_if_the_relay_wrote_it(auth: Auth) -> None:
    browser = await auth.signed_in()
    digest = reader(auth).digest(await make(auth, browser))
    key = keys.TOKEN_USE.key(digest)
    use = {"client": "node/24 <b>", "address": "203.0.113.5"}
    for seal, shown in ((Seal([b"x" * 32], b"i" * 32), False), (auth.seal, True)):
        await auth.store.put(key, seal.seal(key, use, auth.clock() + 60), 60)
        page = await browser.get(f"{auth.url}/auth/tokens")
        assert ("node/24 &lt;b&gt; · 203.0.113.5" in page.text) is shown


@pytest.mark.parametrize(("form", "limited"), [({}, False), ({"read_only": "1"}, True)])
async def test_a_token_can_be_limited_to_reading(
    auth: Auth, form: dict[str, str], limited: bool
) -> None:
    browser = await auth.signed_in()
    found = await reader(auth).verify(await make(auth, browser, **form))
    assert found is not None
    assert found[1].read_only is limited
    page = await browser.get(f"{auth.url}/auth/tokens")
    assert ("All of yours · read only" in page.text) is limited


async def test_a_session_from_a_sign_in_link_may_look_but_not_change(auth: Auth) -> None:
    browser = await auth.signed_in()
    text = await make(auth, browser)
    sessions = auth.sessions()
    session = await sessions.find(sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or ""))
    assert session is not None
    looking = Session.model_validate(session.model_dump() | {"kind": SessionKind.TOKEN})
    cookie = await SessionWriter(auth.store, auth.seal, auth.clock).begin(looking)
    browser.plant(auth.url, SESSION_COOKIE, cookie)
    page = await browser.get(f"{auth.url}/auth/tokens")
    assert "Laptop" in page.text
    assert "Create token" not in page.text
    assert "Revoke</button>" not in page.text
    found = await reader(auth).verify(text)
    assert found is not None
    for path in ("", f"/{found[1].id}/revoke"):
        answer = await browser.post(f"{auth.url}/auth/tokens{path}", GOOD | {"label": "new"})
        assert answer.status == 403
        assert "sign-in link" in answer.text
    assert await reader(auth).verify(text) is not None


async def test_signed_out_nobody_makes_or_revokes_tokens(auth: Auth) -> None:
    browser = auth.browser()
    assert (await create(auth, browser)).status == 401
    assert (await browser.post(f"{auth.url}/auth/tokens/x/revoke", {})).status == 401


async def test_a_form_cannot_be_held_back_until_its_session_has_ended(
    auth: Auth, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Begun with a stolen cookie, finished after the sign-out: a token that outlives both."""
    monkeypatch.setattr(body, "SECONDS", 0.2)
    browser = await auth.signed_in()
    headers = {
        "Cookie": f"{SESSION_COOKIE}={browser.cookie(auth.url, SESSION_COOKIE)}",
        "Origin": auth.url,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    assert b" 408 " in await unfinished(f"{auth.url}/auth/tokens", headers)
