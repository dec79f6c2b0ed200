"""The call that opens a page: when it runs, what the page hears, what is shown when it fails."""

import asyncio
from typing import Any

from playwright.async_api import expect

from shared.contracts.identity import SessionKind
from shared.contracts.problems import Problem, ProblemKind
from tests.apphost.console import Console
from tests.apphost.fake_relay import Fault
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import PROBE, RESULT, heard, opened, probe, ship

pytestmark = IN_BROWSER


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


async def test_a_call_without_arguments_is_told_as_one(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor, inputSchema={"type": "object"})
    told = await heard(frame, 2)
    assert [one["params"] for one in told] == [{"arguments": {}}, RESULT]


async def test_nothing_is_said_before_the_page_has_initialized(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor, "?shy")
    await frame.evaluate("ready")
    await visitor.page.emulate_media(color_scheme="dark")
    await asyncio.sleep(0.5)
    assert await frame.evaluate("heard.filter(({ method }) => method)") == []
    assert console.relay.calls() == []


async def test_an_error_result_goes_to_the_page_whole_and_the_bar_marks_it(
    console: Console, visitor: Person
) -> None:
    bad = {"isError": True, "content": [{"type": "text", "text": "out of toys"}]}
    console.toys.page(PROBE)
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    console.toys.on_call = lambda _: bad
    await visitor.open("/apps/toys")
    told = await heard(await visitor.app(), 2)
    assert told[1]["params"] == bad
    await visitor.state("The tool reported an error")


async def test_a_failed_opening_call_is_cancelled_with_its_reason(
    console: Console, visitor: Person
) -> None:
    def refuse(_: Any) -> Any:
        raise Fault(-32000, "The shop is closed")

    console.toys.page(PROBE)
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    console.toys.on_call = refuse
    await visitor.open("/apps/toys")
    told = await heard(await visitor.app(), 2)
    assert [one["method"] for one in told] == [
        "ui/notifications/tool-input",
        "ui/notifications/tool-cancelled",
    ]
    assert told[1]["params"] == {"reason": "The shop is closed"}
    await expect(visitor.page.get_by_role("alert")).to_contain_text("The shop is closed")
    await visitor.state("The tool did not run")


async def test_a_page_no_tool_declares_gets_no_call(console: Console, visitor: Person) -> None:
    console.toys.page(PROBE)
    page = {"uri": "ui://t/page", "mimeType": "text/html;profile=mcp-app"}
    console.toys.resources = [page]
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await frame.evaluate("ready")
    await visitor.state("Ready")
    await asyncio.sleep(0.3)
    assert console.relay.calls() == []
    assert await frame.evaluate("heard.length") == 1


async def test_a_look_only_session_runs_nothing(console: Console, visitor: Person) -> None:
    await visitor.take_session(await console.sign_in(kind=SessionKind.TOKEN))
    frame = await probe(console, visitor)
    answer = await frame.evaluate("ready")
    granted = set(answer["result"]["hostCapabilities"])
    told = {"openLinks", "downloadFile", "logging", "serverResources", "experimental"}
    assert granted == told
    await expect(visitor.page.locator("#notices")).to_contain_text("You can look, but not act")
    assert console.relay.calls() == []


async def test_a_silent_page_is_not_left_blank(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor, "?shy")
    notices = visitor.page.locator("#notices")
    await expect(notices).to_contain_text("This page has not started", timeout=12_000)
    assert console.relay.calls() == []  # nothing ran because of the silence
    await visitor.page.get_by_role("button", name="Show the answer as text").click()
    await expect(notices.locator("pre")).to_have_text("three toys")
    assert await frame.evaluate("heard.filter(({ method }) => method)") == []
    await frame.evaluate("note('ui/notifications/initialized')")
    assert [one["method"] for one in await heard(frame, 2)] == [
        "ui/notifications/tool-input",
        "ui/notifications/tool-result",
    ]
    assert len(console.relay.calls()) == 1


TEXTS: list[tuple[dict[str, Any], str]] = [
    ({}, "Empty result."),
    ({"content": [], "structuredContent": {"toys": 3}}, '{\n  "toys": 3\n}'),
    ({"content": [{"type": "image", "data": ""}]}, "The result holds no text."),
    ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\n\nb"),
]
TEXT_OF = """async (result) => {
  const host = document.querySelector("script[type=module]").src;
  return (await import(host.replace("host.js", "stage.js"))).textOf(result);
}"""


async def test_an_empty_answer_is_told_from_none(console: Console, visitor: Person) -> None:
    ship(console)
    console.toys.on_call = lambda _: {"content": []}
    await visitor.open_silent("/apps/toys?shy")
    await visitor.app()
    await visitor.late()
    await visitor.page.get_by_role("button", name="Show the answer as text").click()
    await expect(visitor.page.locator("#notices pre")).to_have_text("Empty result.")
    for result, text in TEXTS:
        assert await visitor.page.evaluate(TEXT_OF, result) == text


async def test_a_page_that_cannot_be_shown_says_why_in_its_place(
    console: Console, visitor: Person
) -> None:
    console.toys.page("x" * (10 * 1024 * 1024))
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await expect(frame.locator("h1")).to_have_text("The server's page is too large to show.")
    await expect(frame.locator("main")).to_contain_text("It is 10.0 MB; the limit is 5 MB.")
    await visitor.state("Not shown")
    assert console.relay.calls() == []


async def test_a_page_from_the_back_forward_cache_is_loaded_anew(
    console: Console, visitor: Person
) -> None:
    await opened(await probe(console, visitor))
    console.relay.problem = Problem(ProblemKind.NOT_FOUND, "Your right ended.")
    back = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
    async with visitor.page.expect_navigation():
        await visitor.page.evaluate(f"void {back}")
    await expect(visitor.page.get_by_role("heading")).to_have_text("No app here for you.")
