"""Sign-in links: one-time tokens that let a person look, and what becomes of the token."""

import asyncio
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from services.auth.operator import links
from services.auth.operator.desk import Unknown
from shared import keys
from shared.contracts.identity import Session, SessionKind
from shared.contracts.wire import LINK_COOKIE, SESSION_COOKIE
from shared.ids import new_secret
from shared.signing import Seal
from shared.stores.memory import MemoryKeyValue
from tests.auth.browser import Browser, Page, assert_refused
from tests.auth.conftest import CHARLES, Auth, Clock, StartBoth
from tests.auth.test_people import LATER, desk_of, people_of
from tests.auth.test_trail import trail


async def made(auth: Auth, to: str = "/") -> str:
    """A link for Ada, who has signed in before."""
    await auth.signed_in()
    said = await links.make(desk_of(auth), "ada@strad.test", to)
    address, words = said.split("\n")
    assert words == "It works once, within 10 minutes."
    return address


def token_of(address: str) -> str:
    return parse_qs(urlsplit(address).query)["token"][0]


async def followed(auth: Auth, browser: Browser, address: str, site: str = "none") -> Page:
    """As far as the page that asks."""
    page = await browser.get(address, site)
    assert page.status == 303
    assert page.location == f"{auth.url}/auth/link"
    return await browser.get(page.location, site)


async def pressed(auth: Auth, browser: Browser) -> Page:
    return await browser.post(f"{auth.url}/auth/link", {})


async def session(auth: Auth, browser: Browser) -> Session | None:
    sessions = auth.sessions()
    return await sessions.find(sessions.digest(browser.cookie(auth.url, SESSION_COOKIE) or ""))


async def test_a_link_signs_in_to_look_for_an_hour_and_works_once(auth: Auth) -> None:
    address = await made(auth, "/apps/toys?x=1")
    browser = auth.browser()
    asked = await followed(auth, browser, address)
    assert "Sign in as Ada Lovelace?" in asked.text
    assert not await auth.has_session(browser)
    page = await pressed(auth, browser)
    assert (page.status, page.location) == (303, f"{auth.url}/apps/toys?x=1")
    found = await session(auth, browser)
    assert found is not None
    assert (found.kind, found.person.email) == (SessionKind.TOKEN, "ada@strad.test")
    assert found.expires - found.created == 3600
    assert browser.cookie(auth.url, LINK_COOKIE) is None
    again = auth.browser()
    assert_refused(await followed(auth, again, address), "link-unusable")
    assert_refused(await pressed(auth, again), "link-unusable")
    assert [one["event"] for one in await trail(auth)] == ["signed-in", "link-made", "link-used"]


async def test_looking_at_a_link_uses_nothing_up(auth: Auth) -> None:
    """Scanners of mail follow links; only the person's press counts."""
    address = await made(auth)
    for _ in range(3):
        assert (await followed(auth, auth.browser(), address)).status == 200
    browser = auth.browser()
    await followed(auth, browser, address)
    assert (await pressed(auth, browser)).status == 303
    assert await auth.has_session(browser)


async def test_of_two_presses_one_signs_in(auth: Auth) -> None:
    address = await made(auth)
    one, other = auth.browser(), auth.browser()
    await followed(auth, one, address)
    await followed(auth, other, address)
    assert (await pressed(auth, one)).status == 303
    assert_refused(await pressed(auth, other), "link-unusable")


async def test_of_two_presses_at_the_same_moment_one_signs_in(
    start_both: StartBoth, clock: Clock
) -> None:
    """Both have seen that the link is good before either has used it."""

    class Together(MemoryKeyValue):
        waits: asyncio.Barrier | None = None

        async def get(self, key: str) -> bytes | None:
            found = await super().get(key)
            looks = key.startswith(keys.LINK.prefix) and not key.startswith(keys.LINK_USED.prefix)
            if self.waits is not None and looks:
                async with asyncio.timeout(5):
                    await self.waits.wait()
            return found

    store = Together(clock)
    auth = await start_both(store=store)
    address = await made(auth)
    one, other = auth.browser(), auth.browser()
    await followed(auth, one, address)
    await followed(auth, other, address)
    store.waits = asyncio.Barrier(2)
    pages = await asyncio.gather(pressed(auth, one), pressed(auth, other))
    assert sorted(page.status for page in pages) == [303, 400]


async def test_the_token_leaves_the_address_before_anything_is_shown(auth: Auth) -> None:
    address = await made(auth)
    token = token_of(address)
    browser = auth.browser()
    page = await browser.get(address)
    assert page.text == ""
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "no-store"
    assert token not in page.location
    asked = await browser.get(page.location)
    assert token not in asked.text
    signed_in = await pressed(auth, browser)
    assert token not in str(signed_in.headers)


async def test_a_strangers_link_signs_nobody_in_without_a_press_that_names_the_person(
    auth: Auth,
) -> None:
    """Else a stranger could make people act as somebody else (login CSRF)."""
    address = await made(auth)
    browser = auth.browser()
    asked = await followed(auth, browser, address, "cross-site")
    assert "Sign in as Ada Lovelace?" in asked.text
    assert not await auth.has_session(browser)
    for origin, site in (("https://evil.test", "cross-site"), (None, None), ("null", "cross-site")):
        page = await browser.post(f"{auth.url}/auth/link", {}, origin=origin, site=site)
        assert page.status == 403
    assert not await auth.has_session(browser)


async def test_a_link_never_takes_the_place_of_a_session(auth: Auth) -> None:
    address = await made(auth)
    charles = await auth.signed_in(CHARLES)
    before = charles.cookie(auth.url, SESSION_COOKIE)
    asked = await followed(auth, charles, address)
    assert "This browser is signed in as Charles Babbage" in asked.text
    assert (await pressed(auth, charles)).location == f"{auth.url}/auth/link"
    assert charles.cookie(auth.url, SESSION_COOKIE) == before
    assert await auth.has_session(charles)
    ada = auth.browser()
    await followed(auth, ada, address)
    assert (await pressed(auth, ada)).status == 303, "the link was not used up"


async def test_a_link_has_ten_minutes(auth: Auth) -> None:
    address = await made(auth)
    browser = auth.browser()
    await followed(auth, browser, address)
    auth.clock.now += 601
    assert_refused(await pressed(auth, browser), "link-unusable")


async def test_a_limited_session_ends_within_the_operators_rules(start_both: StartBoth) -> None:
    auth = await start_both(sessions={"idle": "5m", "absolute": "20m"})
    browser = auth.browser()
    await followed(auth, browser, await made(auth))
    await pressed(auth, browser)
    found = await session(auth, browser)
    assert found is not None
    assert (found.expires - found.created, found.idle_seconds) == (1200, 300)


async def test_a_made_up_token_is_the_same_page_as_a_used_one(auth: Auth) -> None:
    browser = auth.browser()
    page = await followed(auth, browser, f"{auth.url}/auth/link?token={'x' * 43}")
    assert_refused(page, "link-unusable")
    assert_refused(await pressed(auth, browser), "link-unusable")


@pytest.mark.parametrize("token", ["", "x", "x" * 44, "a&token=b", "%00", "<b>"])
async def test_what_cannot_be_a_link_is_asked_for_whole(auth: Auth, token: str) -> None:
    browser = auth.browser()
    page = await followed(auth, browser, f"{auth.url}/auth/link?token={token}")
    assert_refused(page, "link-missing")
    assert "Open the whole link once more" in page.text
    assert_refused(await pressed(auth, browser), "link-missing")


async def test_a_link_dies_with_the_right_to_sign_in_and_with_the_binding(auth: Auth) -> None:
    address = await made(auth)
    browser = auth.browser()
    await followed(auth, browser, address)
    await people_of(auth).unbind("ada@strad.test")
    assert_refused(await pressed(auth, browser), "link-unusable")
    assert await people_of(auth).claim(LATER)
    assert_refused(await pressed(auth, browser), "link-unusable")
    with pytest.raises(Unknown):
        await links.make(desk_of(auth), "eve@strad.test", "/")


async def test_who_may_not_sign_in_any_more_has_no_use_of_a_link(start_both: StartBoth) -> None:
    auth = await start_both()
    stranger = LATER.model_copy(update={"email": "guest@elsewhere.test"})
    assert await people_of(auth).claim(stranger)
    said = await links.make(desk_of(auth), "guest@elsewhere.test", "/")
    browser = auth.browser()
    page = await followed(auth, browser, said.split("\n")[0])
    assert_refused(page, "not-allowed", 403)
    assert_refused(await pressed(auth, browser), "not-allowed", 403)


@pytest.mark.parametrize("to", ["https://evil.test", "//evil.test", "/auth/start", "javascript:x"])
async def test_a_link_leads_to_a_page_of_ours_or_home(auth: Auth, to: str) -> None:
    browser = auth.browser()
    await followed(auth, browser, await made(auth, to))
    assert (await pressed(auth, browser)).location == f"{auth.url}/"


async def test_a_writer_of_the_store_cannot_make_a_link(auth: Auth) -> None:
    address = await made(auth)
    real = await auth.store.get(keys.LINK.key(auth.seal.digest("link", token_of(address))))
    assert real is not None
    token = new_secret()
    key = keys.LINK.key(auth.seal.digest("link", token))
    record = {"person": LATER.model_dump(), "return_to": "/"}
    forged = Seal([b"x" * 32], b"i" * 32).seal(key, record, auth.clock() + 600)
    for value in (real, forged, json.dumps(record).encode(), b""):
        await auth.store.put(key, value, 600)
        page = await followed(auth, auth.browser(), f"{auth.url}/auth/link?token={token}")
        assert_refused(page, "link-unusable")


async def test_a_dump_holds_no_token_of_a_link_and_no_name(auth: Auth) -> None:
    address = await made(auth)
    dump = repr(vars(auth.store))
    assert "link:" in dump
    for secret in (token_of(address), "ada@strad.test", "Lovelace"):
        assert secret not in dump
