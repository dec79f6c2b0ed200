"""Full screen, sizes, and all that a page is told of its surroundings."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Frame, expect

from services.apphost import styles
from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until
from tests.browser.probe import heard, probe
from tests.browser.sdk import Sdk

pytestmark = IN_BROWSER

ASK = "window.asked = app.requestDisplayMode({ mode: 'fullscreen' }); undefined"


async def modes(frame: Frame) -> list[str]:
    """The modes that the page was told of, in order."""
    said: list[str] = await frame.evaluate(
        "told.flatMap(([name, p]) => name === 'hostcontextchanged' ? [p.displayMode] : [])"
        ".filter(Boolean)"
    )
    return said


async def test_the_official_sdk_accepts_all_that_it_is_told(
    sdk: Sdk, console: Console, visitor: Person
) -> None:
    frame = await sdk.page(console, visitor, title="Show toys", description="All of them.")
    context: dict[str, Any] = await frame.evaluate("app.getHostContext()")
    assert set(context) == {
        "theme",
        "styles",
        "displayMode",
        "availableDisplayModes",
        "containerDimensions",
        "locale",
        "timeZone",
        "platform",
        "deviceCapabilities",
        "toolInfo",
    }
    assert context["styles"] == {"variables": styles.variables()}
    assert context["availableDisplayModes"] == ["inline", "fullscreen"]
    assert context["platform"] == "web"
    assert context["toolInfo"]["tool"] == {
        "name": "show",
        "title": "Show toys",
        "description": "All of them.",
        "inputSchema": {"type": "object"},
    }
    size = await frame.evaluate("({ width: innerWidth, height: innerHeight })")
    assert context["containerDimensions"] == size
    await until(frame, "told.length >= 2")
    assert [name for name, *_ in await frame.evaluate("told")] == ["toolinput", "toolresult"]


async def test_a_page_gets_full_screen_on_a_click_and_the_bar_stays(
    sdk: Sdk, console: Console, visitor: Person
) -> None:
    frame = await sdk.page(console, visitor, {"availableDisplayModes": ["inline", "fullscreen"]})
    await frame.evaluate(f"document.querySelector('h1').onclick = () => {{ {ASK} }}; undefined")
    await frame.locator("h1").click()
    await until(frame, "window.asked")
    assert await frame.evaluate("asked") == {"mode": "fullscreen"}
    assert await visitor.page.evaluate("document.fullscreenElement.tagName") == "HTML"
    await expect(visitor.page.locator(".app-bar")).to_be_visible()
    await until(frame, "told.some(([name]) => name === 'hostcontextchanged')")
    assert await modes(frame) == ["fullscreen"]
    button = visitor.page.get_by_role("button", name="Full screen")
    await expect(button).to_have_attribute("aria-pressed", "true")
    answer = await frame.evaluate("app.requestDisplayMode({ mode: 'inline' })")
    assert answer == {"mode": "inline"}
    await asyncio.sleep(0.2)
    assert await modes(frame) == ["fullscreen", "inline"]
    # the same document all along
    assert await frame.evaluate("told.filter(([name]) => name === 'toolinput').length") == 1


async def test_the_persons_own_button_enters_and_leaves(
    sdk: Sdk, console: Console, visitor: Person
) -> None:
    frame = await sdk.page(console, visitor)
    button = visitor.page.get_by_role("button", name="Full screen")
    await button.click()
    await until(visitor.page, "document.fullscreenElement")
    await button.click()
    await until(visitor.page, "!document.fullscreenElement")
    await asyncio.sleep(0.2)
    assert await modes(frame) == ["fullscreen", "inline"]


async def test_without_a_click_the_answer_is_the_mode_as_it_is(
    console: Console, visitor: Person
) -> None:
    # asked by the page of its own accord: Playwright's evaluate would count as a gesture
    script = "<script>ready.then(() => { window.early = ask('ui/request-display-mode', "
    script += "{ mode: 'fullscreen' }); });</script>"
    frame = await probe(console, visitor, extra=script)
    await until(frame, "window.early")
    assert (await frame.evaluate("early"))["result"] == {"mode": "inline"}
    assert await visitor.page.evaluate("document.fullscreenElement") is None


@pytest.mark.parametrize("mode", ["pip", "", "FULLSCREEN", 7, None, ["fullscreen"]])
async def test_a_mode_that_is_none_changes_nothing(
    console: Console, visitor: Person, mode: object
) -> None:
    frame = await probe(console, visitor)
    answer = await frame.evaluate("(mode) => ask('ui/request-display-mode', { mode })", mode)
    assert answer["result"] == {"mode": "inline"}


async def test_a_page_is_never_put_into_a_mode_that_it_does_not_name(
    sdk: Sdk, console: Console, visitor: Person
) -> None:
    frame = await sdk.page(console, visitor, {"availableDisplayModes": ["inline"]})
    await expect(visitor.page.get_by_role("button", name="Full screen")).to_be_hidden()
    await frame.evaluate(
        "void parent.postMessage({ jsonrpc: '2.0', id: 900, method: 'ui/request-display-mode',"
        " params: { mode: 'fullscreen' } }, '*')"
    )
    await asyncio.sleep(0.3)
    assert await visitor.page.evaluate("document.fullscreenElement") is None


async def test_a_reported_size_moves_nothing(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    before = await frame.evaluate("[innerWidth, innerHeight]")
    for size in ({"width": 10, "height": 9000}, {"height": -1}, {"width": "x"}, {}):
        await frame.evaluate("(size) => note('ui/notifications/size-changed', size)", size)
    await asyncio.sleep(0.4)
    assert await frame.evaluate("[innerWidth, innerHeight]") == before
    assert len(await heard(frame, 2)) == 2
    assert visitor.complaints == []


@pytest.mark.parametrize("wish", [True, False, None, "false", 0])
async def test_a_page_may_do_without_a_border(
    console: Console, visitor: Person, wish: object
) -> None:
    await probe(console, visitor)
    console.toys.contents["ui://t/page"][0]["_meta"] = {"ui": {"prefersBorder": wish}}
    await visitor.open("/apps/toys")
    await heard(await visitor.app(), 2)
    colour = await visitor.page.evaluate("getComputedStyle(main).borderTopColor")
    assert (colour == "rgba(0, 0, 0, 0)") is (wish is False)
    await expect(visitor.page.locator(".app-bar")).to_be_visible()
