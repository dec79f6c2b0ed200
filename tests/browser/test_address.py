"""The address bar and the tab's history, as a page may use them: `x-strad/search`, `x-strad/hash`.

Nothing here goes through Playwright's `evaluate` before the address is read: it would count as the
click that a new entry needs.
"""

import asyncio
from typing import Any

from playwright.async_api import Browser, expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import PROBE, hostile
from tests.browser.quiet import QuietTab
from tests.live import LiveStack

pytestmark = IN_BROWSER

SEARCH, HASH = "x-strad/search", "x-strad/hash"


async def opened(console: Console, visitor: Person, rest: str = "", html: str = PROBE) -> QuietTab:
    """The visitor opens the app; no tool declares its page, so nothing else is sent."""
    console.toys.page(html)
    page = {"uri": "ui://t/page", "mimeType": "text/html;profile=mcp-app"}
    console.toys.resources = [page]
    await visitor.open(f"/apps/toys{rest}")
    return await QuietTab.of(visitor)


async def shows(tab: QuietTab, address: str) -> None:
    """The address bar shows this, and goes on showing it; many writes in a row take their time."""
    for _ in range(20):
        await asyncio.sleep(0.02)
        if await tab.address() == address:
            break
        await asyncio.sleep(0.03)
    assert await tab.address() == address


async def somebody(console: Console, browser: Browser) -> Person:
    """Signed in, at this browser."""
    person = await Person.at(browser, console.url)
    await person.take_session(await console.sign_in())
    return person


# ---- the query ----


async def test_a_mirrored_search_replaces_every_param_but_uri(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "?view=week&uri=ui%3A%2F%2Ft%2Fpage&token=T#item-3")
    await tab.note(SEARCH, search="?q=a%20b&tag=1&tag=2")
    assert await tab.address() == "/apps/toys?uri=ui%3A%2F%2Ft%2Fpage&q=a+b&tag=1&tag=2#item-3"
    await tab.note(SEARCH, search="")
    assert await tab.address() == "/apps/toys?uri=ui%3A%2F%2Ft%2Fpage#item-3"


async def test_a_uri_that_the_address_does_not_carry_is_not_added(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "?view=week")
    await tab.note(SEARCH, search="?view=day")
    assert await tab.address() == "/apps/toys?view=day"
    await tab.note(SEARCH, search="?")
    assert await tab.address() == "/apps/toys"


SEARCHES = [
    ("?token=T&a=1", "?a=1"),
    ("?%74oken=T&to%6ben=U&a=1", "?a=1"),
    ("?uri=ui%3A%2F%2Ft%2Fother&a=1", "?a=1"),
    ("?a=1#/../../other", "?a=1%23%2F..%2F..%2Fother"),
    ("?a=1\r\nSet-Cookie: x", "?a=1%0D%0ASet-Cookie%3A+x"),
    ("a=1", "?a=1"),
    ("??a=1", "?%3Fa=1"),
    ("https://evil.test/?a=1", "?https%3A%2F%2Fevil.test%2F%3Fa=1"),
    ("/apps/other?a", "?%2Fapps%2Fother%3Fa="),
    ("?a=\u0000\ud800<script>", "?a=%00%EF%BF%BD%3Cscript%3E"),
    ("?__proto__=1&constructor=2", "?__proto__=1&constructor=2"),
    ("?a=" + "x" * 4094, "?kept=1"),
    ("?a=" + " \u00e4" * 1000, "?kept=1"),
    ("?a=" + "x" * 4000, "?a=" + "x" * 4000),
]


async def test_a_search_is_params_and_nothing_else(console: Console, visitor: Person) -> None:
    tab = await opened(console, visitor, "#here")
    for search, query in SEARCHES:
        await tab.note(SEARCH, search="?kept=1")
        await shows(tab, "/apps/toys?kept=1#here")
        await tab.note(SEARCH, search=search)
        await asyncio.sleep(0.3 if query == "?kept=1" else 0)
        await shows(tab, f"/apps/toys{query}#here")
    assert visitor.complaints == []


async def test_the_longest_search_that_is_mirrored_can_be_opened_again(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor)
    await tab.note(SEARCH, search="?a=" + "x" * 4092)
    await visitor.open(await tab.address())
    tab = await QuietTab.of(visitor)
    assert await tab.page("new URLSearchParams(location.search).get('a').length") == 4092


async def test_a_search_is_never_an_entry(console: Console, visitor: Person) -> None:
    tab = await opened(console, visitor)
    before, _ = await tab.history()
    await tab.click()
    await tab.note(SEARCH, search="?a=1", push=True)
    await asyncio.sleep(0.6)
    await tab.note(SEARCH, search="?a=2", push=True)
    after, _ = await tab.history()
    assert after == [*before[:-1], "/apps/toys?a=2"]


async def test_of_many_searches_in_a_row_the_last_one_stays(
    console: Console, keeping_browser: Browser
) -> None:
    """A browser stops writing an address that changes more than 200 times in ten seconds."""
    person = await somebody(console, keeping_browser)
    tab = await opened(console, person)
    for first, last in ((0, 190), (190, 230)):
        await tab.page(
            f"for (let i = {first}; i < {last}; i += 1) note('{SEARCH}', {{ search: `?a=${{i}}` }})"
        )
        await asyncio.sleep(1)
    assert await tab.address() == "/apps/toys?a=229"
    assert person.complaints == []


# ---- the hash ----


async def test_a_hash_replaces_unless_it_asks_for_a_step(console: Console, visitor: Person) -> None:
    tab = await opened(console, visitor, "?view=week#one")
    before, _ = await tab.history()
    await tab.click()
    await tab.note(HASH, hash="#two")
    after, _ = await tab.history()
    assert after == [*before[:-1], "/apps/toys?view=week#two"]
    await tab.note(HASH, hash="#three", push=True)
    after, at = await tab.history()
    assert after == [*before[:-1], "/apps/toys?view=week#two", "/apps/toys?view=week#three"]
    assert at == len(before)


async def test_without_a_click_a_step_only_replaces(console: Console, visitor: Person) -> None:
    tab = await opened(console, visitor)
    before, _ = await tab.history()
    assert await tab.host("navigator.userActivation.hasBeenActive") is False
    for name in ("first", "second", "third"):
        await tab.note(HASH, hash=f"#{name}", push=True)
        await asyncio.sleep(0.6)
    after, _ = await tab.history()
    assert after == [*before[:-1], "/apps/toys#third"]


async def test_a_click_of_long_ago_allows_no_step(console: Console, visitor: Person) -> None:
    tab = await opened(console, visitor)
    before, _ = await tab.history()
    await tab.click()
    await asyncio.sleep(5.8)
    await tab.note(HASH, hash="#late", push=True)
    after, _ = await tab.history()
    assert after == [*before[:-1], "/apps/toys#late"]


async def test_steps_are_half_a_second_apart(console: Console, visitor: Person) -> None:
    tab = await opened(console, visitor)
    before, _ = await tab.history()
    await tab.click()
    for number in range(5):
        await tab.note(HASH, hash=f"#quick-{number}", push=True)
    await asyncio.sleep(0.6)
    assert len((await tab.history())[0]) == len(before) + 1
    assert await tab.address() == "/apps/toys#quick-4"
    await tab.note(HASH, hash="#slow", push=True)
    after, _ = await tab.history()
    assert after == [*before, "/apps/toys#quick-4", "/apps/toys#slow"]


async def test_a_hash_that_is_shown_is_never_a_second_entry(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "#caf%C3%A9%20%22a%22")
    before = await tab.history()
    for same in ('#café "a"', "caf%C3%A9 %22a%22", '#ca\nfé\t "a"'):
        await tab.click()
        await tab.note(HASH, hash=same, push=True)
        await asyncio.sleep(0.6)
    assert await tab.history() == before


HASHES = [
    ("item", "#item"),
    ("#", ""),
    ("", ""),
    ("##a", "##a"),
    ("#a#b?c=1&token=T", "#a#b?c=1&token=T"),
    ("#%zz%", "#%zz%"),
    ("#a b<c>\u00fc", "#a%20b%3Cc%3E%C3%BC"),
    ("#\u0000\ud800", "#%00%EF%BF%BD"),
    ("#a\r\nb", "#ab"),
    ("javascript:alert(1)", "#javascript:alert(1)"),
    ("//evil.test/", "#//evil.test/"),
    ("#" + "x" * 4096, "#kept"),
    ("#" + "\u00fc" * 1000, "#kept"),
]


async def test_a_hash_is_a_hash_and_nothing_else(console: Console, visitor: Person) -> None:
    tab = await opened(console, visitor, "?a=1")
    for given, shown in HASHES:
        await tab.note(HASH, hash="#kept")
        await shows(tab, "/apps/toys?a=1#kept")
        await tab.note(HASH, hash=given)
        await asyncio.sleep(0.3 if shown == "#kept" else 0)
        await shows(tab, f"/apps/toys?a=1{shown}")
    assert visitor.complaints == []


WRONG: list[Any] = [None, 7, True, ["#a"], {"toString": "#a"}, [], {}]


async def test_what_is_not_text_changes_nothing(console: Console, visitor: Person) -> None:
    tab = await opened(console, visitor, "?a=1#kept")
    before = await tab.history()
    for value in WRONG:
        await tab.click()
        await tab.note(SEARCH, search=value)
        await tab.note(HASH, hash=value, push=True)
    await tab.note(SEARCH)
    await tab.note(HASH)
    await asyncio.sleep(0.5)
    assert await tab.history() == before
    for number, value in enumerate(one for one in WRONG if one is not True):
        await tab.note(HASH, hash=f"#new-{number}", push=value)  # truthy is not true
    assert len((await tab.history())[0]) == len(before[0])
    assert visitor.complaints == []


async def test_a_request_for_our_notifications_is_not_supported(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor)
    for method in (SEARCH, HASH, "x-strad/key"):
        answer = await tab.page(f"ask('{method}', {{ search: '?a=1', hash: '#a', key: 'a' }})")
        assert answer["error"]["code"] == -32601
    assert await tab.address() == "/apps/toys"


async def test_a_link_within_the_page_goes_there_and_is_no_entry(
    console: Console, visitor: Person
) -> None:
    part = '<a id="in" href="#part">in</a><div style="height: 3000px"></div><p id="part">part'
    tab = await opened(console, visitor, "#kept", html=PROBE + part)
    before = await tab.history()
    await visitor.page.frames[1].locator("#in").click()
    await tab.until("scrollY > 1000 && location.hash === '#part'")
    await asyncio.sleep(0.3)
    assert await tab.history() == before
    assert len(visitor.context.pages) == 1
    await visitor.state("Ready")


# ---- Back and Forward ----


async def two_steps(tab: QuietTab) -> None:
    """From #a to #b to #c, each an entry."""
    await tab.click()
    await tab.note(HASH, hash="#b", push=True)
    await asyncio.sleep(0.55)
    await tab.note(HASH, hash="#c", push=True)


async def told(tab: QuietTab, *hashes: str) -> None:
    """The page has heard these, and nothing more."""
    await tab.until(f"heard.filter(({{ method }}) => method === '{HASH}').length >= {len(hashes)}")
    assert await tab.heard(HASH) == [{"hash": one} for one in hashes]


async def test_back_and_forward_tell_the_page_and_load_nothing(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "#a%20%C3%BC")
    source = await tab.host("document.querySelector('iframe').src")
    await tab.click()
    await tab.note(HASH, hash="#b ä", push=True)
    await tab.go(-1)
    await told(tab, "#a%20%C3%BC")
    await tab.go(1)
    await told(tab, "#a%20%C3%BC", "#b%20%C3%A4")
    assert await tab.address() == "/apps/toys#b%20%C3%A4"
    # the frame is as it was: same address, same document, its own hash untouched
    assert await tab.host("document.querySelector('iframe').src") == source
    assert await tab.page("location.hash") == "#a%20%C3%BC"
    await visitor.state("Ready")


async def test_the_report_that_answers_back_adds_nothing(console: Console, visitor: Person) -> None:
    tab = await opened(console, visitor, "#a")
    await two_steps(tab)
    await tab.go(-1)
    await told(tab, "#b")
    before = await tab.history()
    await asyncio.sleep(0.55)
    await tab.click()
    await tab.note(HASH, hash="#b", push=True)
    assert await tab.history() == before
    await tab.go(1)
    await told(tab, "#b", "#c")


async def test_a_late_report_of_what_back_moved_past_is_dropped(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "#a")
    await two_steps(tab)
    await tab.click()
    await tab.go(-1)
    await told(tab, "#b")
    await tab.go(-1)
    await told(tab, "#b", "#a")
    before = await tab.history()
    await tab.note(HASH, hash="#c", push=True)  # what it was doing when Back was pressed
    await tab.note(HASH, hash="#b", push=True)  # its answer to the first Back
    assert await tab.history() == before
    await tab.note(HASH, hash="#a", push=True)  # its answer to the second
    assert await tab.history() == before
    await asyncio.sleep(0.55)
    await tab.note(HASH, hash="#b", push=True)  # now it is in step, and goes there itself
    after, at = await tab.history()
    assert (after[at], at) == ("/apps/toys#b", before[1] + 1)


async def test_a_page_that_reports_nothing_after_back_can_still_go_there_again(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "#a")
    await two_steps(tab)
    await tab.go(-1)
    await told(tab, "#b")
    await asyncio.sleep(1.1)
    await tab.click()
    await tab.note(HASH, hash="#c", push=True)
    assert await tab.address() == "/apps/toys#c"


async def test_after_back_the_address_keeps_the_latest_query(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "?q=old#a")
    await two_steps(tab)
    await tab.note(SEARCH, search="?q=new")
    await tab.go(-1)
    await told(tab, "#b")
    assert await tab.address() == "/apps/toys?q=new#b"
    await tab.go(-1)
    await told(tab, "#b", "#a")
    assert await tab.address() == "/apps/toys?q=new#a"


async def test_what_was_not_written_yet_is_on_the_entry_that_back_leads_to(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "#a")
    await tab.click()
    await tab.page(
        f"for (let i = 0; i < 60; i += 1) note('{HASH}', {{ hash: `#a${{i}}` }});"
        f" note('{HASH}', {{ hash: '#b', push: true }}); ask('ping').then(() => 0)"
    )
    urls, at = await tab.history()
    assert urls[at - 1 :] == ["/apps/toys#a59", "/apps/toys#b"]


async def test_back_says_nothing_to_a_page_that_does_not_listen_yet(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "?shy#a")
    await tab.click()
    await tab.note(HASH, hash="#b", push=True)
    await tab.go(-1)
    await asyncio.sleep(0.3)
    assert await tab.heard(HASH) == []
    await tab.page("note('ui/notifications/initialized')")
    await told(tab, "#a")


async def test_a_hash_that_a_person_types_is_told_to_the_page(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "#a")
    await visitor.open("/apps/toys#typed")
    await told(tab, "#typed")
    await visitor.state("Ready")


async def test_the_link_past_the_bar_leaves_the_hash_to_the_page(
    console: Console, visitor: Person
) -> None:
    tab = await opened(console, visitor, "#a")
    await visitor.page.locator("a.skip").focus()
    await visitor.page.keyboard.press("Enter")
    assert await tab.host("document.activeElement.id") == "main"
    assert await tab.address() == "/apps/toys#a"
    assert await tab.heard(HASH) == []


async def test_back_from_elsewhere_shows_the_route_that_was_left(
    console: Console, visitor: Person
) -> None:
    assert await left_and_come_back_to(console, visitor) == "back_forward"


async def test_a_browser_that_keeps_pages_shows_the_route_that_was_left_too(
    console: Console, keeping_browser: Browser
) -> None:
    person = await somebody(console, keeping_browser)
    # it was kept, and then loaded anew: a right may have ended meanwhile
    assert await left_and_come_back_to(console, person) == "reload"


async def left_and_come_back_to(console: Console, person: Person) -> str:
    """Two steps into the app, on to the home page, and Back. How the browser came back."""
    tab = await opened(console, person, "#a")
    await two_steps(tab)
    await tab.note(SEARCH, search="?q=1")
    await person.open("/")
    await tab.go(-1)
    await person.page.wait_for_url("**/apps/toys?q=1#c")
    await asyncio.sleep(0.5)
    tab = await QuietTab.of(person)
    assert await tab.page("location.hash") == "#c"
    await tab.go(-1)
    await told(tab, "#b")
    assert await tab.address() == "/apps/toys?q=1#b"
    way: str = await tab.host("performance.getEntriesByType('navigation')[0].type")
    return way


# ---- attacks ----


async def flooded(console: Console, visitor: Person, clicks: int) -> int:
    """How many entries a page added that asks for as many as it can, for three seconds."""
    html = hostile("history_flood")
    tab = await opened(console, visitor, html=html)
    before, _ = await tab.history()
    for _ in range(clicks):
        await tab.click()
    await tab.until("done", 8)
    after, _ = await tab.history()
    return len(after) - len(before)


async def test_a_page_cannot_flood_the_history_without_a_click(
    console: Console, visitor: Person
) -> None:
    assert await flooded(console, visitor, clicks=0) == 0


async def test_a_click_lets_a_page_add_two_entries_a_second_and_no_more(
    console: Console, visitor: Person
) -> None:
    assert 1 <= await flooded(console, visitor, clicks=3) <= 7


async def test_a_page_cannot_rewrite_its_own_address_into_another_page_of_the_console(
    console: Console, visitor: Person
) -> None:
    """What the frame makes of its own address is not what the host loads after Back."""
    console.toys.page("<!doctype html><title>another", "ui://t/other")
    tab = await opened(console, visitor, "?uri=ui%3A%2F%2Ft%2Fpage")
    await tab.page("history.replaceState(null, '', '?uri=ui%3A%2F%2Ft%2Fother')")
    await visitor.open("/")
    await tab.go(-1)
    await asyncio.sleep(0.5)
    tab = await QuietTab.of(visitor)
    assert await tab.page("document.title") == "probe"


# ---- the catalogue ----


async def test_a_search_in_the_catalogue_is_a_link_that_shows_the_same_search(
    stack: LiveStack, browser: Browser, ada: Person
) -> None:
    await ada.open("/apps/catalog")
    frame = await ada.app()
    toys = frame.locator(".toy[data-toy]")
    await expect(toys.first).to_be_visible()
    everything = await toys.count()
    await frame.locator("#query").fill("bear & co")
    await ada.page.wait_for_url("**/apps/catalog?q=bear+%26+co")
    await frame.locator("#query").fill("Holz")
    await ada.page.wait_for_url("**/apps/catalog?q=Holz")
    await expect(toys.first).to_be_visible()
    found = await toys.all_inner_texts()
    assert 0 < len(found) < everything
    other = await Person.at(browser, stack.url)
    await other.sign_in("Ada Lovelace")
    await other.open(ada.page.url.removeprefix(stack.url))
    again = await other.app()
    await expect(again.locator("#query")).to_have_value("Holz")
    await expect(again.locator(".toy[data-toy]")).to_have_text(found, use_inner_text=True)
    assert other.page.url == ada.page.url
    await other.leave()
