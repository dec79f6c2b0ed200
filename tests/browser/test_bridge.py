"""What a page hears and may ask, with a page that keeps every message."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Frame, expect

from shared.contracts.identity import SessionKind
from shared.contracts.problems import Problem, ProblemKind
from tests.apphost.console import Console
from tests.apphost.fake_relay import Fault
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until

pytestmark = IN_BROWSER

PROBE = (Path(__file__).parent / "probe.html").read_text()
RESULT = {
    "content": [{"type": "text", "text": "three toys"}],
    "structuredContent": {"toys": [1, 2, 3]},
    "_meta": {"x/y": {"kept": True}},
    "unknown": "kept too",
}
SCHEMA = {
    "type": "object",
    "properties": {
        "shelf": {"type": "string", "default": "north", "description": "Which <b>shelf</b>."},
        "count": {"type": "integer", "default": 3},
        "gift": {"type": "boolean"},
        "size": {"enum": ["small", "large"]},
        "more": {"type": "object"},
        "__proto__": {"type": "string", "default": "only a name"},
    },
    "required": ["shelf"],
}


async def probe(console: Console, person: Person, query: str = "", **tool: Any) -> Frame:
    """The server ships the probe; its tool `show` reads only, unless `tool` says otherwise."""
    console.toys.page(PROBE)
    told = {"annotations": {"readOnlyHint": True}, "inputSchema": SCHEMA} | tool
    console.toys.tool("show", "ui://t/page", **told)
    console.toys.on_call = lambda _: RESULT
    await person.open(f"/apps/toys{query}")
    return await person.app()


async def heard(frame: Frame, count: int) -> list[Any]:
    """The notifications that the page has heard, at least so many, and then no more."""
    expression = "heard.filter(({ method }) => method)"
    await until(frame, f"{expression}.length >= {count}")
    await asyncio.sleep(0.3)
    # as text: Playwright's own way back would lose a key named __proto__
    found: list[Any] = json.loads(await frame.evaluate(f"JSON.stringify({expression})"))
    return found


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


async def test_initialize_answers_id_0_with_what_is_true(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    answer = await frame.evaluate("ready")
    assert answer["id"] == 0
    result = answer["result"]
    assert result["protocolVersion"] == "2026-01-26"
    assert result["hostInfo"] == {"name": "strad", "version": "0.1.0"}
    assert result["hostCapabilities"] == {"openLinks": {}, "serverTools": {}}
    context = result["hostContext"]
    assert context["theme"] == "light"
    assert context["displayMode"] == "inline"
    assert context["toolInfo"]["tool"]["name"] == "show"
    assert context["containerDimensions"]["height"] > 500
    again = await frame.evaluate("hello()")
    assert again["result"]["hostInfo"] == result["hostInfo"]


async def test_nothing_is_said_before_the_page_has_initialized(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor, "?shy")
    await frame.evaluate("ready")
    await visitor.page.emulate_media(color_scheme="dark")
    await asyncio.sleep(0.5)
    assert await frame.evaluate("heard.filter(({ method }) => method)") == []
    assert console.relay.calls() == []


async def test_a_change_of_theme_is_told(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    await visitor.page.emulate_media(color_scheme="dark")
    told = (await heard(frame, 3))[-1]
    assert told["method"] == "ui/notifications/host-context-changed"
    assert told["params"] == {"theme": "dark"}


async def test_ping_is_answered_and_other_methods_are_not_supported(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    assert (await frame.evaluate("ask('ping')"))["result"] == {}
    for method in (
        "ui/message",
        "ui/update-model-context",
        "sampling/createMessage",
        "ui/download-file",
        "initialize",
        "x-strad/search",
        "made/up",
    ):
        answer = await frame.evaluate("(method) => ask(method, {})", method)
        assert answer["error"] == {"code": -32601, "message": "not supported"}


async def test_a_call_of_the_page_brings_the_whole_result(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    answer = await frame.evaluate(
        "ask('tools/call', { name: 'plain', arguments: { a: [1] }, _meta: { progressToken: 1 } })"
    )
    assert answer["result"] == RESULT
    assert console.relay.calls()[-1] == {
        "method": "tools/call",
        "params": {"name": "plain", "arguments": {"a": [1]}},
        "surface": "app",
        "page": "ui://t/page",
        "slug": "toys",
    }


async def test_an_error_of_the_server_reaches_the_page_as_it_is(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)

    def refuse(_: Any) -> Any:
        raise Fault(-32602, "Not for pages")

    console.toys.on_call = refuse
    answer = await frame.evaluate("ask('tools/call', { name: 'hidden' })")
    assert answer["error"] == {"code": -32602, "message": "Not for pages"}
    console.relay.problem = Problem(ProblemKind.UPSTREAM_TIMEOUT, "Too slow.", "Wait.")
    answer = await frame.evaluate("ask('tools/call', { name: 'slow' })")
    assert answer["error"] == {"code": -32000, "message": "Too slow. Wait."}
    assert await visitor.page.locator("iframe").count() == 1


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        (ProblemKind.SIGN_IN_NEEDED, "You are signed out"),
        (ProblemKind.NOT_FOUND, "You no longer have this app"),
    ],
)
async def test_a_right_that_ended_ends_the_page(
    console: Console, visitor: Person, kind: ProblemKind, title: str
) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    console.relay.problem = Problem(kind, "Ended.")
    await frame.evaluate("void ask('tools/call', { name: 'plain' })")
    await visitor.closed(title)


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
    assert answer["result"]["hostCapabilities"] == {"openLinks": {}}
    await expect(visitor.page.locator("#notices")).to_contain_text("You can look, but not act")
    assert console.relay.calls() == []


async def test_a_silent_page_is_not_left_blank(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor, "?shy")
    notices = visitor.page.locator("#notices")
    await expect(notices).to_contain_text("This page has not started", timeout=12_000)
    assert console.relay.calls() == []  # nothing ran because of the silence
    await visitor.page.get_by_role("button", name="Show the answer as text").click()
    await expect(notices.locator("pre")).to_have_text("three toys")
    await frame.evaluate("note('ui/notifications/initialized')")
    assert [one["method"] for one in await heard(frame, 2)] == [
        "ui/notifications/tool-input",
        "ui/notifications/tool-result",
    ]
    assert len(console.relay.calls()) == 1


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


async def test_query_and_hash_of_the_address_reach_the_page(
    console: Console, visitor: Person
) -> None:
    frame = await probe(
        console, visitor, "?view=week&token=SECRET&uri=ui%3A%2F%2Ft%2Fpage&q=a+b%26#item-3"
    )
    search, fragment = await frame.evaluate("[location.search, location.hash]")
    assert search == "?uri=ui%3A%2F%2Ft%2Fpage&view=week&q=a+b%26"
    assert fragment == "#item-3"


async def test_a_plain_link_shows_its_address_and_opens_on_the_persons_press(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await visitor.context.route(
        "https://example.com/**",
        lambda route: route.fulfill(body="there", content_type="text/html"),
    )
    await frame.locator("#plain").click()
    strip = visitor.page.get_by_role("alertdialog")
    await expect(strip).to_contain_text("https://example.com/path?q=1")
    async with visitor.context.expect_page() as opened:
        await strip.get_by_role("button", name="Open").click()
    page = await opened.value
    await page.wait_for_url("https://example.com/path?q=1")
    assert await page.evaluate("[opener, document.referrer]") == [None, ""]
    await expect(strip).to_be_hidden()


async def test_open_link_answers_whether_it_was_opened(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await visitor.context.route("https://example.com/**", lambda route: route.fulfill(body="x"))
    for name, result in (("Cancel", {"isError": True}), ("Open", {})):
        await frame.evaluate(
            "window.asked = ask('ui/open-link', { url: 'https://example.com/' }); undefined"
        )
        await visitor.page.get_by_role("alertdialog").get_by_role("button", name=name).click()
        assert (await frame.evaluate("asked"))["result"] == result


async def test_only_one_address_is_asked_about_at_a_time(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    answer = await frame.evaluate(
        "ask('ui/open-link', { url: 'https://one.test/' }) &&"
        " ask('ui/open-link', { url: 'https://two.test/' })"
    )
    assert answer["error"]["message"] == "Another address is being asked about."
    await expect(visitor.page.locator("#link-address")).to_have_text("https://one.test/")
