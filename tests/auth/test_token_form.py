"""The form for a new token: every mistake beside its field, nothing lost, nothing made by it."""

import re

import pytest

from services.auth.token_form import MAX_TOKENS, lifetimes
from shared import keys
from shared.contracts.wire import SESSION_COOKIE
from tests.auth.browser import Browser
from tests.auth.conftest import Auth, StartBoth
from tests.auth.tokens import DAY, GOOD, create, make

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


@pytest.mark.parametrize(
    "reach",
    [
        [("reach", "some")],
        [("reach", "other")],
        [("reach", "every"), ("servers", "news")],
    ],
)
async def test_a_token_for_all_servers_is_made_only_by_saying_so(
    auth: Auth, reach: list[tuple[str, str]]
) -> None:
    browser = await auth.signed_in()
    page = await create(auth, browser, [*GOOD.items(), *reach])
    assert page.status == 422
    assert "Choose all of yours, or tick those that you mean." in page.text
    assert 'value="every" checked' not in page.text
    assert await auth.store.index(await tokens_index(auth, browser)) == set()


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
        auth.clock.now += 2  # no more than so many a minute
        await make(auth, browser, label=f"client {number}")
    page = await create(auth, browser)
    assert page.status == 422
    assert "Revoke one first." in page.text


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
    assert 'name="servers"' not in page.text


async def test_names_are_escaped_wherever_they_stand(auth: Auth) -> None:
    browser = await auth.signed_in()
    label = "<img src=x onerror=alert(1)>"
    page = await create(auth, browser, GOOD | {"label": label})
    listed = await browser.get(f"{auth.url}/auth/tokens")
    assert label not in page.text + listed.text
    assert "&lt;img src=x" in page.text
    assert "&lt;img src=x" in listed.text
