"""A tool that does not say that it only reads waits for the person."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import RESULT, heard, probe

pytestmark = IN_BROWSER


async def test_a_tool_that_writes_waits_for_the_persons_press(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor, annotations={}, title="Show toys")
    card = visitor.page.get_by_role("dialog")
    await expect(card.get_by_role("heading")).to_have_text("Run “Show toys”?")
    await asyncio.sleep(0.3)
    assert await frame.evaluate("heard.filter(({ method }) => method)") == []
    assert await card.locator("b").count() == 0  # the schema's markup stays text
    await card.get_by_label("shelf").fill("south")
    await card.get_by_label("count (optional)").fill("")
    await card.get_by_label("gift (optional)").check()
    await card.get_by_label("size (optional)").select_option("large")
    await card.get_by_label("more (optional)").fill('{"a": 1}')
    run = card.get_by_role("button", name="Run")
    await expect(run).to_be_enabled()
    await run.click()
    args = {
        "shelf": "south",
        "gift": True,
        "size": "large",
        "more": {"a": 1},
        "__proto__": "only a name",
    }
    told = await heard(frame, 2)
    assert told[0]["params"] == {"arguments": args}
    assert told[1]["params"] == RESULT
    call = console.relay.calls()[0]
    assert (call["surface"], call["params"]["arguments"]) == ("run", args)
    await expect(card).to_be_hidden()


async def test_the_run_button_takes_no_press_in_its_first_moment(
    console: Console, visitor: Person
) -> None:
    await probe(console, visitor, annotations={})
    run = visitor.page.get_by_role("button", name="Run", exact=True)
    await run.wait_for()
    await run.click(force=True, no_wait_after=True)
    await asyncio.sleep(0.3)
    assert console.relay.calls() == []


async def test_a_scripts_click_is_no_press(console: Console, visitor: Person) -> None:
    await probe(console, visitor, annotations={})
    run = visitor.page.get_by_role("button", name="Run", exact=True)
    await expect(run).to_be_enabled()
    await run.evaluate("(button) => button.click()")
    await run.evaluate("(button) => button.form.dispatchEvent(new Event('submit'))")
    await asyncio.sleep(0.3)
    assert console.relay.calls() == []


async def test_text_that_is_no_json_is_said_at_its_field(console: Console, visitor: Person) -> None:
    await probe(console, visitor, annotations={})
    card = visitor.page.get_by_role("dialog")
    await card.get_by_label("more (optional)").fill("{nope")
    run = card.get_by_role("button", name="Run")
    await expect(run).to_be_enabled()
    await run.click()
    await expect(card).to_be_visible()
    message = await card.get_by_label("more (optional)").evaluate("(f) => f.validationMessage")
    assert message == "This is not JSON."
    await card.get_by_label("more (optional)").fill('{"yes": true}')
    await run.click()
    await expect(card).to_be_hidden()


async def test_not_now_leaves_the_page_open_and_the_card_at_hand(
    console: Console, visitor: Person
) -> None:
    await probe(console, visitor, annotations={})
    await visitor.page.get_by_role("button", name="Not now").click()
    await expect(visitor.page.get_by_role("dialog")).to_be_hidden()
    assert console.relay.calls() == []
    await visitor.page.get_by_role("button", name="Run…").click()
    await expect(visitor.page.get_by_role("dialog")).to_be_visible()


async def test_the_page_behind_the_card_is_out_of_reach_until_it_closes(
    console: Console, visitor: Person
) -> None:
    await probe(console, visitor, annotations={})
    frame = visitor.page.locator("iframe")
    await expect(visitor.page.get_by_role("dialog")).to_be_visible()
    await expect(frame).to_have_attribute("inert", "")
    await visitor.page.get_by_role("button", name="Not now").click()
    await expect(frame).not_to_have_attribute("inert", "")


SCREENS = [
    {"width": 390, "height": 700},
    {"width": 390, "height": 420},
    {"width": 1280, "height": 600},
]
LONG = {
    "type": "object",
    "properties": {
        f"field_{n}": {"type": "string", "description": "One of many."} for n in range(25)
    },
}


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: "{width}x{height}".format(**screen))
async def test_run_stays_in_sight_of_a_long_form_and_hides_no_field(
    console: Console, visitor: Person, screen: Any
) -> None:
    await visitor.page.set_viewport_size(screen)
    await probe(console, visitor, annotations={}, inputSchema=LONG)
    card = visitor.page.get_by_role("dialog")
    run, last = card.get_by_role("button", name="Run"), card.get_by_label("field_24")
    await expect(run).to_be_in_viewport(ratio=1)
    await expect(last).not_to_be_in_viewport()
    wide = await visitor.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    for name in ("field_12", "field_24"):
        await card.get_by_label(name).focus()  # as Tab would
        box, bar = await card.get_by_label(name).bounding_box(), await run.bounding_box()
        assert box
        assert bar
        assert box["y"] + box["height"] <= bar["y"], f"{name} lies behind the buttons"
        await expect(run).to_be_in_viewport(ratio=1)
    await last.fill("end")
    await run.click()
    await expect(card).to_be_hidden()
    assert console.relay.calls()[0]["params"]["arguments"] == {"field_24": "end"}


async def test_the_log_does_not_cover_the_run_button(console: Console, visitor: Person) -> None:
    await probe(console, visitor, annotations={}, inputSchema=LONG)
    await visitor.page.get_by_role("button", name="Messages").click()
    run = visitor.page.get_by_role("dialog").get_by_role("button", name="Run")
    await expect(run).to_be_enabled()
    await run.click(timeout=3000)
    await expect(visitor.page.get_by_role("dialog")).to_be_hidden()
