"""Personal access tokens: made, shown once, listed, limited, revoked."""

import re
from typing import Any

import pytest

from services.auth.token_form import MAX_TOKENS, lifetimes
from shared import keys
from shared.contracts.identity import Session, SessionKind
from shared.contracts.wire import SESSION_COOKIE
from shared.ids import is_token
from shared.stores.sessions import SessionWriter
from shared.stores.tokens import TokenReader
from tests.auth.browser import Browser, Page
from tests.auth.conftest import CHARLES, Auth, StartBoth

DAY = 86400
GOOD = {"label": "Laptop", "life": str(30 * DAY)}


def shown_token(page: Page) -> str:
    found = re.search(r'<code id="new-token">([^<]+)</code>', page.text)
    assert found, page.text
    return found[1]


def reader(auth: Auth) -> TokenReader:
    """What the relay uses."""
    return TokenReader(auth.store, auth.seal, auth.clock)


async def create(auth: Auth, browser: Browser, form: Any = None) -> Page:
    return await browser.post(f"{auth.url}/auth/tokens", GOOD if form is None else form)


async def make(auth: Auth, browser: Browser, **changes: str) -> str:
    page = await create(auth, browser, GOOD | changes)
    assert page.status == 200, page.text
    return shown_token(page)


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


MISTAKES = {
    "no name": ({"label": ""}, "Give it a name"),
    "blanks only": ({"label": "   "}, "Give it a name"),
    "a name too long": ({"label": "x" * 61}, "at most 60 characters"),
    "a name of two lines": ({"label": "a\nb"}, "letters, digits"),
    "a hidden character": ({"label": "a\u202eb"}, "letters, digits"),
    "no life": ({"life": ""}, "one of the times"),
    "for ever": ({"life": "0"}, "one of the times"),
    "longer than the operator allows": ({"life": str(365 * DAY)}, "one of the times"),
    "a second more": ({"life": str(30 * DAY + 1)}, "one of the times"),
    "a negative life": ({"life": "-5"}, "one of the times"),
    "digits of another script": ({"life": "\u0663"}, "one of the times"),
    "a very long number": ({"life": "9" * 5000}, "one of the times"),
}


@pytest.mark.parametrize("name", MISTAKES)
async def test_a_mistake_is_shown_beside_its_field_and_nothing_is_lost(
    auth: Auth, name: str
) -> None:
    changes, sentence = MISTAKES[name]
    browser = await auth.signed_in()
    form = GOOD | {"label": "My <laptop>"} | changes
    page = await create(auth, browser, [*form.items(), ("servers", "news")])
    assert page.status == 422
    assert sentence in page.text
    assert 'value="news" checked' in page.text
    assert "No token was made" in page.text
    if "label" not in changes:
        assert 'value="My &lt;laptop&gt;"' in page.text
    assert await auth.store.index(await tokens_index(auth, browser)) == set()


async def tokens_index(auth: Auth, browser: Browser) -> str:
    sessions = auth.sessions()
    session = await sessions.find(sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or ""))
    assert session is not None
    return keys.TOKENS_OF.key(session.person.subject)


async def test_an_empty_form_is_answered_with_the_form(auth: Auth) -> None:
    page = await create(auth, await auth.signed_in(), {})
    assert page.status == 422
    assert "Give it a name" in page.text


async def test_what_is_no_form_is_refused(auth: Auth) -> None:
    browser = await auth.signed_in()
    headers = {"Origin": auth.url, "Sec-Fetch-Site": "same-origin"}
    headers["Cookie"] = f"{SESSION_COOKIE}={browser.cookie(auth.url, SESSION_COOKIE)}"
    url = f"{auth.url}/auth/tokens"
    async with auth.http.post(url, json=GOOD, headers=headers) as answer:
        assert answer.status == 415
    async with auth.http.post(url, data={"label": "x" * 70_000}, headers=headers) as answer:
        assert answer.status == 413
        assert "too large" in await answer.text()


async def test_sending_the_form_again_makes_no_second_token(auth: Auth) -> None:
    browser = await auth.signed_in()
    await make(auth, browser)
    page = await create(auth, browser)
    assert page.status == 422
    assert "You have a token with this name already." in page.text


async def test_nobody_has_more_than_fifty(auth: Auth) -> None:
    browser = await auth.signed_in()
    for number in range(MAX_TOKENS):
        await make(auth, browser, label=f"client {number}")
    page = await create(auth, browser)
    assert page.status == 422
    assert "Revoke one first." in page.text


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
        (None, "never"),
        (b"now", "unknown"),
        (b"\xff", "unknown"),
        (b"99999999999", "unknown"),
        (b"-1", "unknown"),
        ("now", "today"),
        (b"1000000000", "9 Sep 2001"),
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
    assert f'<td data-label="Last used">{words}</td>' in page.text


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


async def test_an_operator_decides_the_longest_life(start_both: StartBoth) -> None:
    auth = await start_both(tokens={"longest": "36h"})
    browser = await auth.signed_in()
    page = await browser.get(f"{auth.url}/auth/tokens")
    assert re.findall(r"<option[^>]*>([^<]+)<", page.text) == ["1 day", "36 hours"]
    assert (await create(auth, browser)).status == 422
    assert (await create(auth, browser, GOOD | {"life": str(36 * 3600)})).status == 200


@pytest.mark.parametrize(
    ("longest", "words"),
    [
        (90 * DAY, ["1 day", "7 days", "30 days", "90 days"]),
        (400 * DAY, ["1 day", "7 days", "30 days", "90 days", "365 days", "400 days"]),
        (3600, ["1 hour"]),
        (90, ["90 seconds"]),
    ],
)
def test_the_choices_end_at_the_limit(longest: int, words: list[str]) -> None:
    assert [choice.words for choice in lifetimes(longest)] == words


async def test_no_servers_no_choice(start_both: StartBoth) -> None:
    auth = await start_both(servers=[])
    page = await (await auth.signed_in()).get(f"{auth.url}/auth/tokens")
    assert page.status == 200
    assert "fieldset" not in page.text


async def test_names_are_escaped_wherever_they_stand(auth: Auth) -> None:
    browser = await auth.signed_in()
    label = "<img src=x onerror=alert(1)>"
    page = await create(auth, browser, GOOD | {"label": label})
    listed = await browser.get(f"{auth.url}/auth/tokens")
    assert label not in page.text + listed.text
    assert "&lt;img src=x" in page.text
    assert "&lt;img src=x" in listed.text
