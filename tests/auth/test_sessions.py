"""The page about sessions, signing out everywhere, and what administrators end for others."""

import re

import pytest

from services.auth.device import device_of
from shared import keys
from shared.contracts.identity import SessionKind
from shared.contracts.wire import SESSION_COOKIE
from shared.stores.sessions import SessionWriter
from tests.auth.browser import Browser, Page
from tests.auth.conftest import CHARLES, Auth, StartBoth
from tests.auth.test_trail import trail
from tests.auth.tokens import make, reader

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


async def shown(auth: Auth, browser: Browser) -> Page:
    page = await browser.get(f"{auth.url}/auth/sessions")
    assert page.status == 200, page.text
    return page


def ids(page: Page) -> list[str]:
    return re.findall(r'action="/auth/sessions/([^"/]+)/end"', page.text)


def digest(auth: Auth, browser: Browser) -> str:
    return auth.sessions().digest(browser.cookie(auth.url, SESSION_COOKIE) or "")


async def test_the_page_lists_ones_own_sessions_and_marks_this_one(auth: Auth) -> None:
    first = await auth.signed_in()
    auth.clock.now += 60
    second = auth.browser()
    question = await auth.start(second)
    answer = await auth.choose(second, question)
    await second.get(answer, "cross-site", User_Agent=FIREFOX)
    await auth.signed_in(CHARLES)
    page = await shown(auth, second)
    assert ids(page) == [digest(auth, second)[:12], digest(auth, first)[:12]]
    assert page.text.count("This browser") == 1
    assert page.text.index("Firefox on Linux") < page.text.index("This browser")
    assert page.text.index("This browser") < page.text.index("Unknown browser")
    for browser in (first, second):
        assert digest(auth, browser) not in page.text


async def test_one_session_is_ended_and_the_others_go_on(auth: Auth) -> None:
    here, there = await auth.signed_in(), await auth.signed_in()
    gone = await here.post(f"{auth.url}/auth/sessions/{digest(auth, there)[:12]}/end", {})
    assert gone.location == f"{auth.url}/auth/sessions?ended"
    assert await auth.has_session(here)
    assert not await auth.has_session(there)
    assert "The session has ended" in (await here.get(gone.location)).text
    told = (await trail(auth))[-1]
    assert (told["event"], told["session"]) == ("signed-out", digest(auth, there)[:12])


async def test_ending_this_browsers_own_session_signs_it_out(auth: Auth) -> None:
    browser = await auth.signed_in()
    page = await browser.post(f"{auth.url}/auth/sessions/{digest(auth, browser)[:12]}/end", {})
    assert page.location == f"{auth.url}/auth/signed-out"
    assert browser.cookie(auth.url, SESSION_COOKIE) is None


async def test_another_persons_session_cannot_be_ended_and_seems_not_to_exist(auth: Auth) -> None:
    ada, charles = await auth.signed_in(), await auth.signed_in(CHARLES)
    answers = [
        await charles.post(f"{auth.url}/auth/sessions/{one}/end", {})
        for one in (digest(auth, ada)[:12], "no-such-one-", digest(auth, ada))
    ]
    assert [page.status for page in answers] == [404, 404, 404]
    assert len({re.sub(r"<code>[^<]*</code>", "", page.text) for page in answers}) == 1
    assert await auth.has_session(ada)


async def test_signing_out_everywhere_ends_all_of_ones_own_and_no_tokens(auth: Auth) -> None:
    here, there, charles = (
        await auth.signed_in(),
        await auth.signed_in(),
        await auth.signed_in(CHARLES),
    )
    token = await make(auth, here)
    page = await here.post(f"{auth.url}/auth/sessions/end-all", {})
    assert page.location == f"{auth.url}/auth/signed-out"
    assert here.cookie(auth.url, SESSION_COOKIE) is None
    assert not await auth.has_session(there)
    assert await auth.has_session(charles)
    assert await reader(auth).verify(token) is not None
    assert [one["event"] for one in await trail(auth)].count("signed-out") == 2


async def test_an_ended_session_is_said_on_the_channel_for_open_streams(auth: Auth) -> None:
    here, there = await auth.signed_in(), await auth.signed_in()
    heard = auth.store.hear(keys.ENDED.name)
    assert await anext(heard) is None
    ended = digest(auth, there)
    await here.post(f"{auth.url}/auth/sessions/{ended[:12]}/end", {})
    assert await anext(heard) == ended.encode()
    await heard.aclose()


async def test_the_last_use_is_what_the_console_noted(auth: Auth) -> None:
    here, there = await auth.signed_in(), await auth.signed_in()
    auth.clock.now += 3 * 3600
    key = keys.SESSION_SEEN.key(digest(auth, there))
    rows = (await shown(auth, here)).text
    assert rows.count("Now") == 1
    for note in (b"nonsense", b"99999999999", b"-1"):
        await auth.store.put(key, note, 600)
        assert (await shown(auth, here)).text == rows
    await auth.store.put(key, str(int(auth.clock.now) - 60).encode(), 600)
    assert (await shown(auth, here)).text != rows


async def test_a_session_in_somebody_elses_index_is_not_shown(auth: Auth) -> None:
    """The index is not sealed; the record is."""
    ada, charles = await auth.signed_in(), await auth.signed_in(CHARLES)
    found = await auth.sessions().find(digest(auth, charles))
    assert found is not None
    index = keys.SESSIONS_OF.key(found.person.subject)
    await auth.store.index_add(index, digest(auth, ada), 600)
    assert ids(await shown(auth, charles)) == [digest(auth, charles)[:12]]


@pytest.mark.parametrize("path", ["/auth/sessions/end-all", "/auth/people/end"])
async def test_a_session_from_a_sign_in_link_ends_nobody(start_both: StartBoth, path: str) -> None:
    auth = await start_both(administrators=["ada@strad.test"])
    full = await auth.signed_in()
    own = await auth.sessions().find(digest(auth, full))
    assert own is not None
    writer = SessionWriter(auth.store, auth.seal, auth.clock)
    limited = auth.browser()
    cookie = await writer.begin(own.model_copy(update={"kind": SessionKind.TOKEN}))
    limited.plant(auth.url, SESSION_COOKIE, cookie)
    page = await shown(auth, limited)
    assert "You can look, but not change anything here" in page.text
    assert ids(page) == []
    one = f"/auth/sessions/{digest(auth, full)[:12]}/end"
    for form in (path, one):
        refused = await limited.post(auth.url + form, {"email": "ada@strad.test"})
        assert refused.status == 403
    assert await auth.has_session(full)


async def test_an_administrator_ends_all_that_a_person_holds(start_both: StartBoth) -> None:
    auth = await start_both(administrators=["ada@strad.test"])
    ada, charles = await auth.signed_in(), await auth.signed_in(CHARLES)
    token = await make(auth, charles)
    assert 'href="/auth/people"' in (await shown(auth, ada)).text
    page = await ada.post(f"{auth.url}/auth/people/end", {"email": " Charles@strad.test"})
    assert page.status == 200
    held = "sessions: 1, access tokens: 1, connected clients: 0"
    assert f"Ended for charles@strad.test: {held}." in page.text
    assert not await auth.has_session(charles)
    assert await reader(auth).verify(token) is None
    assert await auth.has_session(ada)
    own = await auth.sessions().find(digest(auth, ada))
    assert own is not None
    told = (await trail(auth))[-1]
    assert (told["event"], told["email"], told["by"]) == (
        "person-ended",
        "charles@strad.test",
        own.person.subject,
    )


@pytest.mark.parametrize(
    ("email", "words"),
    [
        ("eve@strad.test", "Nobody has signed in with this address."),
        ("", "Write one e-mail address."),
        ("<b>", "Write one e-mail address."),
    ],
)
async def test_an_address_that_is_wrong_is_said_beside_its_field(
    start_both: StartBoth, email: str, words: str
) -> None:
    auth = await start_both(administrators=["ada@strad.test"])
    ada = await auth.signed_in()
    page = await ada.post(f"{auth.url}/auth/people/end", {"email": email})
    assert page.status == 422
    assert words in page.text
    assert "<b>" not in page.text


async def test_who_is_no_administrator_ends_nobody_and_sees_no_form(auth: Auth) -> None:
    ada, charles = await auth.signed_in(), await auth.signed_in(CHARLES)
    assert "/auth/people" not in (await shown(auth, ada)).text
    for page in (
        await ada.get(f"{auth.url}/auth/people"),
        await ada.post(f"{auth.url}/auth/people/end", {"email": "charles@strad.test"}),
    ):
        assert page.status == 403
        assert "for administrators" in page.text
        assert "<code>administrators</code>" in page.text
        assert "Account of Ada Lovelace" in page.text
    assert await auth.has_session(charles)


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) Chrome/140 Safari/537 Edg/140",
            "Edge on Windows",
        ),
        ("Mozilla/5.0 (Macintosh) AppleWebKit/605 Version/18 Safari/605", "Safari on macOS"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) CriOS/140.0 Safari/604", "Chrome on iPhone"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537", "Chrome on Android"),
        ("curl/8", "Unknown browser"),
        ("<script>alert(1)</script>", "Unknown browser"),
        ("", "Unknown browser"),
    ],
)
def test_a_browser_is_named_in_words_of_ours(user_agent: str, words: str) -> None:
    assert device_of(user_agent) == words
