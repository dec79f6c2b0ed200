"""The hostile demo page: each attempt refused, by its own word and by a sink that hears nothing."""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Frame, expect

from tests.browser import IN_BROWSER
from tests.browser.careless import careless_host
from tests.browser.people import Person, until
from tests.browser.sink import Sink

pytestmark = IN_BROWSER

AFTERMATH = 1.5  # seconds in which a late request would still arrive
# how one of them ends
ATTEMPT = """async (id) => {
  const all = [...room.attempts.values()].flat();
  return (await all.find((one) => one.id === id).run()).detail;
}"""


async def finished(frame: Frame) -> list[dict[str, str]]:
    """All attempts have been made; how each ended."""
    await expect(frame.locator("html[data-done=true]")).to_be_attached(timeout=90_000)
    found: list[dict[str, str]] = await frame.evaluate("results")
    return found


async def enter(person: Person, sink: Sink, more: str = "") -> Frame:
    """The escape room, told where our sink is."""
    await person.open(f"/apps/hostile?sink={quote(sink.url, safe='')}{more}")
    return await person.app()


async def buttons_of(person: Person, sink: Sink) -> Frame:
    """The same without its attempts: strad's notices of those would lie over its buttons."""
    frame = await enter(person, sink, "&buttons")
    assert await finished(frame) == []
    return frame


async def test_every_attempt_of_the_hostile_page_is_refused(ada: Person, sink: Sink) -> None:
    frame = await enter(ada, sink)
    results = await finished(frame)
    await asyncio.sleep(AFTERMATH)
    assert len(results) > 40
    assert [one for one in results if one["outcome"] == "ESCAPED"] == []
    assert sink.heard == []
    assert await ada.page.locator("iframe").count() == 1  # and the console still stands
    # of all its calls, only tools of this server that a page may call were run
    assert {call["surface"] for call in ada.calls} <= {"app", "open"}


async def test_a_password_is_not_asked_for_and_a_colour_reaches_the_tool(
    ada: Person, sink: Sink
) -> None:
    frame = await buttons_of(ada, sink)
    assert await frame.evaluate(ATTEMPT, "ask-password") == "decline: {}"
    notice = ada.page.locator("#notices > [data-name=declined]")
    await expect(notice).to_contain_text(
        "It asks for “password”. Secrets are never asked for here."
    )
    await frame.evaluate(
        "window.colour = null; void room.ask('tools/call',"
        " { name: 'ask_person', arguments: { what: 'colour' } }, 20000)"
        ".then((answer) => { window.colour = answer.result.content[0].text; })"
    )
    card = ada.page.get_by_role("dialog", name="Escape room asks you")
    await expect(card).to_contain_text("The escape room would like to know your colour.")
    await card.get_by_label("colour").fill("green")
    await expect(card.get_by_role("button", name="Send")).to_be_enabled()
    await card.get_by_role("button", name="Send").click()
    assert await until(frame, "window.colour") == "accept: {'colour': 'green'}"


BUTTONS = [
    "click-popup",
    "click-link",
    "click-form",
    "click-history",
    "click-fullscreen",
]


async def test_a_click_on_its_buttons_sends_nothing_out_either(ada: Person, sink: Sink) -> None:
    frame = await buttons_of(ada, sink)
    steps = await ada.page.evaluate("history.length")
    for button in BUTTONS:
        await frame.locator(f"#{button}").click()
        await asyncio.sleep(0.4)
    await asyncio.sleep(AFTERMATH)
    assert sink.heard == []
    # one press, one step back: of the sixty that a button asks for
    assert await ada.page.evaluate("history.length") == steps + 1
    assert await ada.page.evaluate("document.fullscreenElement") is None
    assert ada.page.url.startswith(f"{ada.url}/apps/hostile")


@pytest.mark.parametrize("button", ["location", "location-data", "meta-refresh", "reload"])
async def test_a_page_that_becomes_another_document_is_closed(
    ada: Person, sink: Sink, button: str
) -> None:
    frame = await buttons_of(ada, sink)
    await frame.locator(f"#{button}").click(no_wait_after=True)
    await ada.closed("The page tried to load another page")
    before = len(ada.calls)
    await asyncio.sleep(AFTERMATH)
    assert sink.heard == []
    assert len(ada.calls) == before


@pytest_asyncio.fixture(loop_scope="session")
async def careless(sink: Sink) -> AsyncIterator[str]:
    """The same page at a host without a policy."""
    async with careless_host(sink.url) as address:
        yield address


async def test_without_our_policy_the_same_page_gets_out(
    browser: Browser, careless: str, sink: Sink
) -> None:
    """The positive control: the attempts are real, and the sink hears."""
    page = await browser.new_page()
    await page.goto(careless)
    await finished(page.frames[1])
    await asyncio.sleep(AFTERMATH)
    heard = " ".join(sink.heard)
    for way in ("/fetch", "/image", "/script", "/iframe", "datagram"):
        assert way in heard, f"{way} not in {sink.heard}"
    assert len(sink.heard) > 15
