"""One attack a file, against apphost alone with a relay that counts what reaches it."""

import asyncio
from unittest.mock import ANY

import pytest
from playwright.async_api import Browser, expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.attacks import GRABS, MALFORMED, shows
from tests.browser.people import Person, until
from tests.browser.probe import opened, probe

pytestmark = IN_BROWSER

SECOND_DOCUMENT = [
    "own_route_by_location",
    "own_route_by_reload",
    "own_route_by_link",
    "console_page_in_itself",
    "blob_document",
    "written_document",
    "about_blank",
]


@pytest.mark.parametrize("name", SECOND_DOCUMENT)
async def test_a_second_document_ends_frame_and_bridge(
    console: Console, visitor: Person, name: str
) -> None:
    reads: list[int] = []
    visitor.page.on(
        "response", lambda answer: reads.append(answer.status) if "/frame?" in answer.url else None
    )
    shown: list[str] = []
    visitor.page.on("framenavigated", lambda frame: shown.append(frame.url.split(":")[0]))
    await shows(console, visitor, name)
    await visitor.closed("The page tried to load another page")
    await asyncio.sleep(0.3)
    assert set(shown) <= {"http", "chrome-error", "about"}
    # frame-src allows its own route again, by path; the connection allowlist stops it, and the
    # server would refuse it (test_frame.py), so no second document's script ever ran
    assert reads[:1] == [200]
    assert set(reads[1:]) <= {403}
    assert console.relay.calls() == []
    assert visitor.page.url == f"{visitor.url}/apps/toys"


async def test_a_closed_page_can_be_opened_again_by_the_person(
    console: Console, visitor: Person
) -> None:
    await shows(console, visitor, "own_route_by_reload")
    await visitor.closed("The page tried to load another page")
    console.toys.page("<!doctype html><p>tamed")
    await visitor.page.get_by_role("link", name="Open again").click()
    frame = await visitor.app()
    await expect(frame.locator("p")).to_have_text("tamed")


async def test_a_child_frame_has_no_bridge(console: Console, visitor: Person) -> None:
    await shows(console, visitor, "forged_source")
    await visitor.app()
    await asyncio.sleep(1)
    assert console.relay.calls() == []  # neither the forged call nor the opening call
    await visitor.state("Loading…")


async def test_no_window_but_the_frames_is_heard(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    # the host page's own, one beside the page's, none at all; and the page's under another origin
    await visitor.page.evaluate("""() => {
      document.body.append(document.createElement("iframe"));
      const data = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "plain" } };
      postMessage(data, "*");
      const others = [[frames[1], "null"], [null, "null"], [frames[0], location.origin]];
      for (const [source, origin] of others) {
        dispatchEvent(new MessageEvent("message", { data, source, origin }));
      }
    }""")
    await frame.evaluate("ask('ping')")
    await asyncio.sleep(0.3)
    assert [one["params"]["name"] for one in console.relay.calls()] == ["show"]


async def test_no_malformed_message_throws_or_is_taken(console: Console, visitor: Person) -> None:
    await shows(console, visitor, "malformed_messages")
    frame = await visitor.app()
    await until(frame, "answers.some(({ id }) => id === 'last')")
    answers = await frame.evaluate("answers")
    codes = {answer["id"]: answer.get("error", {}).get("code") for answer in answers}
    assert codes == MALFORMED
    assert visitor.complaints == []
    assert console.relay.calls() == []


async def test_a_flood_ends_the_page_and_leaves_the_console_usable(
    console: Console, visitor: Person
) -> None:
    await shows(console, visitor, "flood")
    await visitor.closed("The page sent too many messages")
    await visitor.page.get_by_role("link", name="Your apps", exact=True).click()
    await visitor.page.wait_for_url(f"{visitor.url}/")


async def test_only_sixteen_calls_wait_at_once(console: Console, visitor: Person) -> None:
    waiting = asyncio.Event()
    console.relay.hold = waiting
    await shows(console, visitor, "hanging_calls")
    frame = await visitor.app()
    await until(frame, "answers.length === 24")
    answers = await frame.evaluate("answers")
    assert {answer["error"]["message"] for answer in answers} == {"More than 16 requests at once."}
    assert len(console.relay.calls()) <= 16
    waiting.set()
    await until(frame, "answers.length === 40")


async def test_no_address_opens_without_a_click_and_never_the_console(
    console: Console, visitor: Person
) -> None:
    await shows(console, visitor, "links_unasked")
    frame = await visitor.app()
    await until(frame, "answers.length === 16")
    messages = {a["id"]: a["error"]["message"] for a in await frame.evaluate("answers")}
    assert messages[0] == "This happens on a person's click only."
    for number in (*range(1, 11), 15):
        assert messages[number].startswith("Only whole http and https addresses")
    assert messages[11] == "An address with a user name in it is not opened."
    for number in (12, 13, 14):
        assert messages[number] == "A page cannot open the console."
    assert len(visitor.context.pages) == 1
    assert await visitor.page.locator("#link").is_hidden()


@pytest.mark.parametrize("name", GRABS)
async def test_a_page_cannot_reach_the_consoles_windows_or_storage(
    console: Console, visitor: Person, name: str
) -> None:
    await shows(console, visitor, name, "?token=SECRET&uri=ui%3A%2F%2Ft%2Fpage&a=1")
    frame = await visitor.app()
    assert await frame.evaluate("found") == GRABS[name]
    assert frame.url.endswith("/frame?uri=ui%3A%2F%2Ft%2Fpage&a=1")  # and no token
    assert visitor.page.url.startswith(f"{visitor.url}/apps/toys?")
    assert await visitor.context.cookies(visitor.url) == [ANY]  # its session's, and no other


async def test_entries_of_the_frames_own_are_more_back_and_nothing_else(
    console: Console, visitor: Person
) -> None:
    """A limit and no wish: a browser lets every frame add entries, and no host can take them back.
    When this fails, a browser has learnt better, and docs/known-limitations.md can say so."""
    await visitor.open("/")
    await shows(console, visitor, "own_entries")
    await until(await visitor.app(), "globalThis.done")
    tab = await visitor.context.new_cdp_session(visitor.page)
    found = await tab.send("Page.getNavigationHistory")
    host = f"{visitor.url}/apps/toys"
    assert [entry["url"] for entry in found["entries"][-20:]] == [host] * 20
    asked = len(console.relay.asked)
    for _ in range(3):
        await visitor.page.evaluate("void history.back()")
        await asyncio.sleep(0.2)
        assert visitor.page.url == host
    assert len(console.relay.asked) == asked  # none of them loads or runs anything
    await visitor.page.get_by_role("link", name="strad, home").click()
    await visitor.page.wait_for_url(f"{visitor.url}/")


# client hints are left out: they are headers of requests, of which a page makes none
FEATURES = """document.featurePolicy.features().filter((name) => !name.startsWith("ch-"))"""
ALLOWED = f"{FEATURES}.filter((name) => document.featurePolicy.allowsFeature(name))"


async def test_no_feature_of_the_browser_is_left_to_a_page_framed_or_not(
    console: Console, visitor: Person
) -> None:
    console.toys.page("<!doctype html><p>asks for everything")
    console.toys.tool("show", "ui://t/page")
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    assert len(await frame.evaluate(FEATURES)) > 30
    assert await frame.evaluate(ALLOWED) == []
    host = {"clipboard-write", "fullscreen"}  # the host's own Copy and Full screen
    assert set(await visitor.page.evaluate(ALLOWED)) == host
    await visitor.open("/apps/toys/frame")
    assert await visitor.page.evaluate(ALLOWED) == []


async def test_another_site_cannot_frame_host_or_page(
    console: Console, browser: Browser, visitor: Person
) -> None:
    console.toys.page("<!doctype html><title>inside</title>")
    console.toys.tool("show", "ui://t/page")
    path = "/apps/toys/frame?uri=ui%3A%2F%2Ft%2Fpage"
    evil = visitor.url.replace("127.0.0.1", "localhost")  # another site, whatever answers there
    await visitor.context.route(
        f"{evil}/evil",
        lambda route: route.fulfill(
            content_type="text/html",
            body=f'<iframe src="{visitor.url}/apps/toys"></iframe>'
            f'<iframe src="{visitor.url}{path}"></iframe>',
        ),
    )
    await visitor.page.goto(f"{evil}/evil")
    await asyncio.sleep(0.5)
    shown = [await frame.title() for frame in visitor.page.frames[1:]]
    assert "inside" not in shown
    assert console.relay.asked == []
