"""Whoever has the keyboard, only the person presses Run."""

import asyncio

from tests.apphost.console import Console
from tests.browser.probe import hostile, ship
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person
from tests.firefox.probe import heard, probe
from tests.firefox.tab import ENTER, ESCAPE, SPACE, TAB

pytestmark = IN_FIREFOX


async def test_a_page_that_takes_the_keyboard_cannot_run_its_tool(
    console: Console, visitor: Person
) -> None:
    ship(console, hostile("takes_keyboard"), annotations={})
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await visitor.tab.until("document.querySelector('#run-now').disabled === false")
    await frame.until("document.activeElement === field")
    for _ in range(3):
        await visitor.tab.press(ENTER, SPACE, TAB, ENTER, SPACE)
    await asyncio.sleep(0.3)
    assert console.relay.calls() == []
    # with the focus taken every 5 ms, Firefox loses a press; and keys may have said Not now
    for _ in range(10):
        hidden = await visitor.tab.evaluate("document.querySelector('#run').hidden")
        await visitor.tab.click("#run-again" if hidden else "#run-now")
        await asyncio.sleep(0.3)
        if console.relay.calls():
            break
    await frame.until("heard.some(({ method }) => method === 'ui/notifications/tool-result')")
    assert [call["surface"] for call in console.relay.calls()] == ["run"]


async def test_a_run_card_is_filled_and_pressed_by_keyboard(
    console: Console, visitor: Person
) -> None:
    schema = {"type": "object", "properties": {"shelf": {"type": "string"}}}
    ship(console, annotations={}, inputSchema=schema)
    await visitor.open("/apps/toys")
    await visitor.tab.until("document.activeElement.id === 'run-title'")
    await visitor.tab.press(TAB, *"south")
    await visitor.tab.until("document.querySelector('#run-now').disabled === false")
    for _ in range(5):
        await visitor.tab.press(TAB)
        if await visitor.tab.evaluate("document.activeElement.id === 'run-now'"):
            break
    await visitor.tab.press(SPACE)
    await visitor.tab.until("document.querySelector('#run').hidden")
    await visitor.state("Ready")
    assert console.relay.calls()[0]["params"]["arguments"] == {"shelf": "south"}


async def test_arrows_and_escape_on_the_bar_reach_the_page_and_nothing_else(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    await visitor.tab.evaluate("document.querySelector('#reload').focus()")
    await visitor.tab.press("x", ESCAPE, "\ue012", "1")
    keys = [one["params"] for one in (await heard(frame, 4))[2:]]
    assert keys == [{"key": "Escape"}, {"key": "ArrowLeft"}]
