"""Keys: a page gets the keyboard on load, and arrows and Escape pressed on the host; no others."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Frame, Route, expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until
from tests.browser.probe import PROBE, hostile, probe

pytestmark = IN_BROWSER

ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]
KEYS = [*ARROWS, "Escape"]
# a page that notes the keys which reach its own document
LISTENING = f"""{PROBE}<script>
  const typed = [];
  addEventListener("keydown", ({{ key }}) => typed.push(key));
</script>"""


async def opened(console: Console, visitor: Person, query: str = "") -> Frame:
    """The app is there and no tool runs, so nothing of the host's stands in front of it."""
    console.toys.page(LISTENING)
    page = {"uri": "ui://t/page", "mimeType": "text/html;profile=mcp-app"}
    console.toys.resources = [page]
    await visitor.open(f"/apps/toys{query}")
    frame = await visitor.app()
    await frame.evaluate("ready")
    return frame


async def onto_the_bar(visitor: Person) -> None:
    """Click into the host's bar, where no button is: the page has no focus any more."""
    await visitor.page.locator(".app-name").click()
    assert await visitor.page.evaluate("document.activeElement.tagName") == "BODY"


async def forwarded(frame: Frame) -> list[Any]:
    """The keys that the host has told the page."""
    await asyncio.sleep(0.2)
    found: list[Any] = await frame.evaluate(
        "heard.filter(({ method }) => method === 'x-strad/key').map(({ params }) => params)"
    )
    return found


async def press(visitor: Person, *keys: str) -> None:
    for key in keys:
        await visitor.page.keyboard.press(key)


async def test_the_page_has_the_keyboard_when_it_has_loaded(
    console: Console, visitor: Person
) -> None:
    frame = await opened(console, visitor)
    assert await visitor.page.evaluate("document.activeElement.tagName") == "IFRAME"
    await press(visitor, "ArrowLeft", "a", "Escape")
    assert await frame.evaluate("typed") == ["ArrowLeft", "a", "Escape"]
    assert await forwarded(frame) == []  # it has seen them itself


async def test_arrows_and_escape_pressed_on_the_bar_reach_the_page(
    console: Console, visitor: Person
) -> None:
    frame = await opened(console, visitor)
    await onto_the_bar(visitor)
    await press(visitor, *KEYS)
    assert await forwarded(frame) == [{"key": key} for key in KEYS]
    assert await frame.evaluate("typed") == []
    await visitor.page.locator("#reload").focus()
    await press(visitor, "ArrowUp")
    assert (await forwarded(frame))[-1] == {"key": "ArrowUp"}


async def test_no_other_key_reaches_the_page(console: Console, visitor: Person) -> None:
    frame = await opened(console, visitor)
    await onto_the_bar(visitor)
    await press(visitor, "a", "1", "Enter", "Space", "Backspace", "Home", "PageDown", "F2")
    await press(visitor, "Shift+ArrowLeft", "Control+ArrowUp", "Meta+ArrowDown", "Alt+ArrowUp")
    assert await forwarded(frame) == []


async def test_keys_in_a_text_field_of_the_host_stay_there(
    console: Console, visitor: Person
) -> None:
    frame = await opened(console, visitor)
    for field in ("<input>", "<textarea></textarea>", "<select></select>", "<p contenteditable>"):
        await visitor.page.evaluate(
            "(tag) => { const field = document.createElement(tag.match(/\\w+/)[0]);"
            " if (tag.includes('content')) field.contentEditable = 'true';"
            " document.querySelector('header').append(field); field.focus(); }",
            field,
        )
        await press(visitor, *KEYS)
        assert await forwarded(frame) == [], field


OPEN = {
    "dialog": "part.showModal()",
    "div": "part.role = 'menu'",
    "p": "part.popover = 'auto'; part.showPopover()",
}


@pytest.mark.parametrize("tag", OPEN)
async def test_no_key_reaches_the_page_while_something_of_the_hosts_is_open(
    console: Console, visitor: Person, tag: str
) -> None:
    frame = await opened(console, visitor)
    await onto_the_bar(visitor)
    await visitor.page.evaluate(
        "(tag) => { window.part = document.createElement(tag);"
        f" part.textContent = 'x'; document.body.append(part); {OPEN[tag]}; }}",
        tag,
    )
    await press(visitor, *KEYS)
    assert await forwarded(frame) == []
    await visitor.page.evaluate("part.remove()")
    await press(visitor, "ArrowLeft")
    assert await forwarded(frame) == [{"key": "ArrowLeft"}]


async def test_the_run_card_keeps_its_keys_and_the_escape_that_closes_it(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor, annotations={})
    card = visitor.page.get_by_role("dialog")
    await expect(card.get_by_role("heading")).to_be_focused()
    await press(visitor, "ArrowDown", "ArrowLeft", "Escape")
    await expect(card).to_be_hidden()
    assert await forwarded(frame) == []
    await press(visitor, "Escape")  # on the button "Run…", which has the focus now
    assert await forwarded(frame) == [{"key": "Escape"}]


async def test_the_question_about_a_link_keeps_its_keys(console: Console, visitor: Person) -> None:
    frame = await opened(console, visitor)
    await frame.locator("#plain").click()
    strip = visitor.page.get_by_role("alertdialog")
    await expect(strip).to_be_focused()
    await press(visitor, "ArrowDown", "Escape")
    await expect(strip).to_be_hidden()
    assert await forwarded(frame) == []


async def test_the_messages_keep_their_keys_while_one_is_in_them(
    console: Console, visitor: Person
) -> None:
    frame = await opened(console, visitor)
    await visitor.page.get_by_role("button", name="Messages").click()
    await expect(visitor.page.locator("#log-title")).to_be_focused()
    await press(visitor, "ArrowDown", "Escape")
    await expect(visitor.page.locator("#log")).to_be_hidden()
    assert await forwarded(frame) == []


async def test_a_page_that_has_not_initialized_hears_no_key(
    console: Console, visitor: Person
) -> None:
    frame = await opened(console, visitor, "?shy")
    await onto_the_bar(visitor)
    await press(visitor, *KEYS)
    await frame.evaluate("note('ui/notifications/initialized')")
    assert await forwarded(frame) == []  # not then, and not later
    await press(visitor, "ArrowLeft")
    assert await forwarded(frame) == [{"key": "ArrowLeft"}]


async def test_the_host_takes_no_focus_from_a_person_who_is_at_the_bar(
    console: Console, visitor: Person
) -> None:
    may_come = asyncio.Event()

    async def slow(route: Route) -> None:
        await may_come.wait()
        await route.continue_()

    await visitor.context.route("**/frame?*", slow)
    console.toys.page(LISTENING)
    page = {"uri": "ui://t/page", "mimeType": "text/html;profile=mcp-app"}
    console.toys.resources = [page]
    await visitor.page.goto(f"{visitor.url}/apps/toys", wait_until="commit")
    await visitor.page.locator("#reload").focus()
    may_come.set()
    frame = await visitor.app()
    await frame.evaluate("ready")
    assert await visitor.page.evaluate("document.activeElement.id") == "reload"


async def test_a_page_cannot_make_the_host_send_keys(console: Console, visitor: Person) -> None:
    frame = await opened(console, visitor)
    for params in ({"key": "ArrowLeft"}, {"key": "a"}, {}):
        await frame.evaluate("(params) => note('x-strad/key', params)", params)
    await frame.evaluate(
        "try { parent.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' })) } catch {}"
    )
    assert await forwarded(frame) == []


async def test_arrows_on_the_bar_move_through_the_catalogue(ada: Person) -> None:
    await ada.open("/apps/catalog")
    frame = await ada.app()
    await expect(frame.locator(".toy[data-toy]").nth(1)).to_be_visible()
    await onto_the_bar(ada)
    await press(ada, "ArrowRight")
    await until(frame, "document.querySelector('.toy.selected')?.dataset.toy")
    first = await frame.evaluate("document.querySelector('.toy.selected').dataset.toy")
    assert first == await frame.locator(".toy[data-toy]").first.get_attribute("data-toy")


async def test_a_page_that_takes_the_keyboard_cannot_run_its_tool(
    console: Console, visitor: Person
) -> None:
    """It can have the keys that are pressed meanwhile; the press on Run it cannot make."""
    console.toys.page(hostile("takes_keyboard"))
    console.toys.tool("show", "ui://t/page")
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    card = visitor.page.get_by_role("dialog")
    run = card.get_by_role("button", name="Run")
    await expect(run).to_be_enabled()
    await until(frame, "document.activeElement === field")
    # Tab leaves the page for Run; the Enter that follows at once was meant for the page as well
    await press(visitor, "Enter", "Space", "Tab", "Enter", "Space", *ARROWS)
    await expect(card).to_be_visible()
    assert console.relay.calls() == []
    assert await forwarded(frame) == []
    await run.click()
    await expect(card).to_be_hidden()
    assert [call["surface"] for call in console.relay.calls()] == ["run"]
