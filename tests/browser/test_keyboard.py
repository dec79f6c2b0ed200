"""Everything can be done with the keyboard alone, and one sees where one is."""

import asyncio

from playwright.async_api import expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until
from tests.browser.probe import PROBE

pytestmark = IN_BROWSER

WHERE = """(() => {
  const at = document.activeElement;
  if (at === document.body) return "";
  const label = document.querySelector(`label[for="${at.id}"]`);
  return (label ?? at).textContent.trim() || at.title || at.tagName;
})()"""

RING = """(() => {
  const at = document.activeElement;
  return Math.max(...["", "::after"].map((part) => {
    const style = getComputedStyle(at, part);
    return style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
  }));
})()"""


async def tab_to(person: Person, words: str, most: int = 60) -> None:
    """Press Tab until the element with these words has the focus, and look that it shows."""
    for _ in range(most):
        await person.page.keyboard.press("Tab")
        if words in await person.page.evaluate(WHERE):
            width = await person.page.evaluate(RING)
            assert width >= 2, f"{words}: no ring of focus"
            return
    raise AssertionError(f"{words} was not reached")


async def test_from_the_home_page_into_an_app_and_back(console: Console, visitor: Person) -> None:
    console.toys.page(PROBE)
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    await visitor.open("/")
    await tab_to(visitor, "Skip to the content")
    await tab_to(visitor, "The toys")
    await visitor.page.keyboard.press("Enter")
    await visitor.app()
    await visitor.state("Ready")
    await tab_to(visitor, "Close")
    await visitor.page.keyboard.press("Enter")
    await visitor.page.wait_for_url(f"{visitor.url}/")


async def test_a_run_card_is_filled_and_pressed_by_keyboard(
    console: Console, visitor: Person
) -> None:
    console.toys.page(PROBE)
    schema = {"type": "object", "properties": {"shelf": {"type": "string"}}}
    console.toys.tool("show", "ui://t/page", inputSchema=schema)
    await visitor.open("/apps/toys")
    card = visitor.page.get_by_role("dialog")
    await expect(card.get_by_role("heading")).to_be_focused()
    await visitor.page.keyboard.press("Escape")
    await expect(card).to_be_hidden()
    await visitor.page.keyboard.press("Enter")  # on "Run…", where the focus is now
    await expect(card).to_be_visible()
    await tab_to(visitor, "shelf")
    await visitor.page.keyboard.type("south")
    await expect(card.get_by_role("button", name="Run")).to_be_enabled()
    await tab_to(visitor, "Run")
    await visitor.page.keyboard.press("Space")
    await expect(card).to_be_hidden()
    await asyncio.sleep(0.3)
    assert console.relay.calls()[0]["params"]["arguments"] == {"shelf": "south"}


async def test_held_enter_does_not_run_a_tool(console: Console, visitor: Person) -> None:
    console.toys.page(PROBE)
    console.toys.tool("show", "ui://t/page")
    await visitor.open("/apps/toys")
    await visitor.page.get_by_role("dialog").wait_for()
    for _ in range(12):
        await visitor.page.keyboard.down("Enter")
        await asyncio.sleep(0.12)
    await visitor.page.keyboard.up("Enter")
    assert console.relay.calls() == []


async def test_a_link_is_refused_by_escape_and_opened_by_keyboard(
    console: Console, visitor: Person
) -> None:
    console.toys.page(PROBE)
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await visitor.state("Ready")
    strip = visitor.page.get_by_role("alertdialog")
    await visitor.context.route("https://example.com/**", lambda route: route.fulfill(body="x"))
    await tab_to(visitor, "Close")
    await visitor.page.keyboard.press("Tab")  # from the bar into the page
    await until(frame, "document.activeElement.id === 'plain'")
    await visitor.page.keyboard.press("Enter")
    await expect(strip).to_be_focused()
    await visitor.page.keyboard.press("Escape")
    await expect(strip).to_be_hidden()
    await frame.locator("#plain").focus()
    await visitor.page.keyboard.press("Enter")
    await expect(strip.get_by_role("button", name="Open")).to_be_enabled()
    await tab_to(visitor, "Open")
    async with visitor.context.expect_page() as opened:
        await visitor.page.keyboard.press("Enter")
    assert (await opened.value).url in {"about:blank", "https://example.com/path?q=1"}
