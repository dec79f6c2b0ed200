"""The bridge, the opening call and the Run card, in Firefox."""

import asyncio

from tests.apphost.console import Console
from tests.browser.attacks import MALFORMED
from tests.browser.probe import RESULT, hostile, ship
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person
from tests.firefox.probe import METHODS, heard, probe

pytestmark = IN_FIREFOX


async def test_the_opening_call_gives_input_then_result_each_once(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    args = {"shelf": "north", "count": 3, "__proto__": "only a name"}
    assert await heard(frame, 2) == [
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": args}},
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": RESULT},
    ]
    await frame.evaluate("note('ui/notifications/initialized')")
    assert len(await heard(frame, 2)) == 2
    assert [call["surface"] for call in console.relay.calls()] == ["open"]
    await visitor.state("Ready")
    assert visitor.errors == []  # neither policy nor Trusted Types minded anything of the host's


async def test_a_change_of_theme_is_told(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    await visitor.tab.theme("dark")
    told = (await heard(frame, 3))[-1]
    assert told["method"] == "ui/notifications/host-context-changed"
    assert told["params"] == {"theme": "dark"}
    assert await frame.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


async def test_a_call_of_the_page_brings_the_whole_result(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    answer = await frame.evaluate("ask('tools/call', { name: 'plain', arguments: { a: [1] } })")
    assert answer["result"] == RESULT
    assert console.relay.calls()[-1] == {
        "method": "tools/call",
        "params": {"name": "plain", "arguments": {"a": [1]}},
        "surface": "app",
        "page": "ui://t/page",
        "slug": "toys",
    }


async def test_no_malformed_message_throws_or_is_taken(console: Console, visitor: Person) -> None:
    ship(console, hostile("malformed_messages"))
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await frame.until("answers.some(({ id }) => id === 'last')")
    answers = await frame.evaluate("answers")
    codes = {answer["id"]: answer.get("error", {}).get("code") for answer in answers}
    # how deep a message may be before it cannot be cloned is the browser's affair
    assert codes == MALFORMED | {2: codes.get(2, -32600)}
    assert visitor.errors == []
    assert console.relay.calls() == []


async def test_a_flood_ends_the_page_and_leaves_the_console_usable(
    console: Console, visitor: Person
) -> None:
    ship(console, hostile("flood"))
    await visitor.open("/apps/toys")
    await visitor.closed("The page sent too many messages")
    await visitor.tab.click_on("^Your apps$")
    await visitor.tab.until(f"location.href === '{visitor.url}/'")


async def test_a_tool_that_writes_waits_for_the_persons_press(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor, annotations={}, title="Show toys")
    await visitor.tab.text("#run-title", "Run “Show toys”?")
    # neither a script's click nor a script's submit is a press
    await visitor.tab.until("!document.querySelector('#run-now').disabled")
    await visitor.tab.evaluate(
        "(document.querySelector('#run-now').click(),"
        " document.querySelector('#run-form').dispatchEvent(new Event('submit')))"
    )
    await asyncio.sleep(0.3)
    assert console.relay.calls() == []
    assert await frame.evaluate(METHODS) == []
    await visitor.tab.click("#run-now")
    told = await heard(frame, 2)
    assert told[1]["params"] == RESULT
    assert [call["surface"] for call in console.relay.calls()] == ["run"]


async def test_the_run_button_takes_no_press_in_its_first_moment(
    console: Console, visitor: Person
) -> None:
    await probe(console, visitor, annotations={})
    await visitor.tab.text("#run-title", "Run")
    await visitor.tab.point(await visitor.tab.find("#run-now"))
    await asyncio.sleep(0.3)
    assert console.relay.calls() == []


async def test_a_page_that_has_not_initialized_is_told_nothing_and_not_left_blank(
    console: Console, visitor: Person
) -> None:
    script = "https://cdn.test.example/app.js"
    frame = await probe(console, visitor, "?shy", extra=f"<script src='{script}'></script>")
    await visitor.tab.text("#notices", "This page has not started", 12)
    await visitor.tab.text("#notices", f"Blocked: script-src-elem {script}")
    assert console.relay.calls() == []  # nothing ran because of the silence
    await visitor.tab.click_on("^Show the answer as text$")
    await visitor.tab.text("#notices pre", "three toys")
    assert await frame.evaluate(METHODS) == []


async def test_a_page_that_cannot_be_shown_says_why_in_its_place(
    console: Console, visitor: Person
) -> None:
    ship(console, "x" * (10 * 1024 * 1024))
    await visitor.open("/apps/toys#part")  # Firefox keeps the hash in the name of a request
    frame = await visitor.app()
    await frame.text("h1", "The server's page is too large to show.")
    await visitor.state("Not shown")
