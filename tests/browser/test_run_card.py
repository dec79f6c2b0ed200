"""A tool that does not say that it only reads waits for the person."""

import asyncio

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
