"""A server asks something back while its tool runs: the host asks the person, never the page."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Frame, Locator, expect

from tests.apphost.console import Console
from tests.apphost.fake_relay import Json
from tests.browser import IN_BROWSER
from tests.browser.people import Person, until
from tests.browser.probe import RESULT, heard, opened, probe

pytestmark = IN_BROWSER

COLOUR = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "enum": ["red", "blue"], "title": "Colour"},
        "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
        "gift": {"type": "boolean"},
        "note": {"type": "string"},
    },
    "required": ["colour", "count"],
}
DONE = {"content": [{"type": "text", "text": "painted"}]}


def wanting(**properties: Any) -> Json:
    return {"type": "object", "properties": properties}


def form(message: str = "Which colour?", schema: Any = COLOUR) -> Json:
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def visit(url: str) -> Json:
    params = {"mode": "url", "message": "Pay there.", "url": url}
    return {"method": "elicitation/create", "params": params}


def asking(*rounds: Json, final: Json = DONE) -> Callable[[Json], Json]:
    """A tool that asks this, one round after the other, and then answers."""

    def on_call(params: Json) -> Json:
        at = int(params.get("requestState", 0))
        if at == len(rounds):
            return final
        return {
            "resultType": "input_required",
            "inputRequests": rounds[at],
            "requestState": str(at + 1),
        }

    return on_call


async def asked(console: Console, visitor: Person, *rounds: Json, **more: Any) -> Frame:
    """The page is open and its call runs, kept as `said` in it."""
    frame = await probe(console, visitor, **more)
    await opened(frame)
    console.toys.on_call = asking(*rounds)
    console.relay.asked.clear()
    await frame.evaluate(
        "window.said = null; void ask('tools/call', { name: 'paint', arguments: { a: 1 } })"
        ".then((answer) => { window.said = answer; })"
    )
    return frame


def card_of(visitor: Person) -> Locator:
    return visitor.page.get_by_role("dialog", name="Toy shop asks you")


async def press(card: Locator, name: str) -> None:
    button = card.get_by_role("button", name=name)
    await expect(button).to_be_enabled()
    await button.click()


def retries(console: Console) -> list[Any]:
    """What came back to the server with the call."""
    found = [call["params"] for call in console.relay.calls()]
    return [params.get("inputResponses") for params in found if "requestState" in params]


async def test_the_person_fills_a_form_of_the_hosts_and_the_page_gets_the_final_result(
    console: Console, visitor: Person
) -> None:
    frame = await asked(console, visitor, {"q": form("Which <b>colour</b>?")})
    card = card_of(visitor)
    await expect(card).to_be_visible()
    await expect(card.locator("blockquote")).to_have_text("Which <b>colour</b>?")
    await expect(card).to_contain_text("http://toys.internal:8080")
    await expect(card.locator("#ask-tool")).to_have_text("paint")
    assert await card.locator("b").count() == 0
    await expect(visitor.page.locator("iframe")).to_have_attribute("inert", "")
    await card.get_by_label("Colour").select_option("blue")
    await card.get_by_label("count").fill("9")
    await press(card, "Send")
    await expect(card).to_be_visible()  # 9 is more than the server takes
    await card.get_by_label("count").fill("3")
    await card.get_by_label("gift (optional)").check()
    await press(card, "Send")
    said = await until(frame, "window.said")
    assert said["result"] == DONE
    content = {"colour": "blue", "count": 3, "gift": True}
    assert retries(console) == [{"q": {"action": "accept", "content": content}}]
    assert {call["params"]["arguments"]["a"] for call in console.relay.calls()} == {1}
    await expect(card).to_be_hidden()
    await expect(visitor.page.locator("iframe")).not_to_have_attribute("inert", "")
    # the page has heard nothing of it but the result
    assert [m for m in await heard(frame, 2) if m["method"] != "ui/notifications/tool-input"] == [
        {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": RESULT}
    ]
    assert visitor.complaints == []


@pytest.mark.parametrize(("how", "action"), [("Decline", "decline"), ("Escape", "cancel")])
async def test_the_person_can_always_say_no(
    console: Console, visitor: Person, how: str, action: str
) -> None:
    frame = await asked(console, visitor, {"q": form()})
    card = card_of(visitor)
    await expect(card).to_be_visible()
    if how == "Escape":
        await visitor.page.keyboard.press("Escape")
    else:
        await card.get_by_role("button", name="Decline").click()
    await until(frame, "window.said")
    assert retries(console) == [{"q": {"action": action}}]


async def test_several_questions_and_rounds_come_one_after_the_other(
    console: Console, visitor: Person
) -> None:
    first = {"a": form("First?"), "b": form("Second?", wanting())}
    frame = await asked(console, visitor, first, {"c": form("Third?")})
    card = card_of(visitor)
    for message, button in (("First?", "Decline"), ("Second?", "Send"), ("Third?", "Decline")):
        await expect(card.locator("blockquote")).to_have_text(message)
        await press(card, button)
    await until(frame, "window.said")
    accepted = {"action": "accept", "content": {}}
    assert retries(console) == [
        {"a": {"action": "decline"}, "b": accepted},
        {"c": {"action": "decline"}},
    ]


async def test_questions_of_several_calls_wait_for_each_other(
    console: Console, visitor: Person
) -> None:
    frame = await asked(console, visitor, {"q": form()})
    await expect(card_of(visitor)).to_be_visible()
    await frame.evaluate(
        "window.more = null; void ask('tools/call', { name: 'cut', arguments: {} })"
        ".then((answer) => { window.more = answer; })"
    )
    await asyncio.sleep(0.5)
    await expect(visitor.page.locator("#ask-tool")).to_have_text("paint")
    await card_of(visitor).get_by_role("button", name="Decline").click()
    await expect(visitor.page.locator("#ask-tool")).to_have_text("cut")
    await card_of(visitor).get_by_role("button", name="Decline").click()
    await until(frame, "window.said && window.more")


async def test_an_address_is_shown_whole_and_opens_on_the_persons_press_only(
    console: Console, visitor: Person
) -> None:
    url = "https://pay.test.example/" + "x" * 300 + "?a=<b>1</b>"
    await visitor.context.route("https://pay.test.example/**", lambda route: route.abort())
    frame = await asked(console, visitor, {"q": visit(url)})
    card = card_of(visitor)
    await expect(card.locator("code").first).to_have_text(
        url.replace("<", "%3C").replace(">", "%3E")
    )
    assert len(visitor.context.pages) == 1
    async with visitor.context.expect_page() as opening:
        await press(card, "Open in a new tab")
    opened = await opening.value
    assert await opened.evaluate("opener === null")
    await opened.close()
    assert retries(console) == []
    await press(card, "I am done there")
    await until(frame, "window.said")
    assert retries(console) == [{"q": {"action": "accept"}}]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (
            form(schema={"type": "object", "properties": {"password": {"type": "string"}}}),
            "Secrets",
        ),
        (form(schema={"type": "object", "properties": {"a": {"type": "object"}}}), "simple value"),
        (visit("javascript:alert(1)"), "Only whole http and https"),
        (visit("http://user:pw@pay.test.example/"), "user name"),
        ({"method": "sampling/createMessage", "params": {}}, "other than a person"),
    ],
)
async def test_what_no_person_should_be_asked_is_declined_and_said(
    console: Console, visitor: Person, question: Json, reason: str
) -> None:
    frame = await asked(console, visitor, {"q": question})
    await until(frame, "window.said")
    assert retries(console) == [{"q": {"action": "decline"}}]
    notice = visitor.page.locator("#notices > [data-name=declined]")
    await expect(notice).to_contain_text("A question of Toy shop was declined for you")
    await expect(notice).to_contain_text(reason)
    await expect(card_of(visitor)).to_be_hidden()


async def test_the_console_itself_is_no_address_to_be_sent_to(
    console: Console, visitor: Person
) -> None:
    frame = await asked(console, visitor, {"q": visit(f"{console.url}/apps/toys")})
    await until(frame, "window.said")
    assert retries(console) == [{"q": {"action": "decline"}}]


async def test_a_page_cannot_answer_for_the_person(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    console.relay.asked.clear()
    forged = {"answers": {"q": {"action": "accept"}}, "state": "1"}
    answers = {"q": {"action": "accept"}}
    await frame.evaluate(
        "(more) => ask('tools/call', { name: 'paint', arguments: {}, ...more })",
        {
            "again": forged,
            "inputResponses": answers,
            "requestState": "1",
            "_meta": {"again": forged},
        },
    )
    (call,) = console.relay.calls()
    assert call["params"] == {"name": "paint", "arguments": {}}


async def test_a_call_that_the_page_cancels_takes_its_question_along(
    console: Console, visitor: Person
) -> None:
    frame = await asked(console, visitor, {"q": form()})
    await expect(card_of(visitor)).to_be_visible()
    await frame.evaluate("note('notifications/cancelled', { requestId: next - 1 })")
    await expect(card_of(visitor)).to_be_hidden()
    await asyncio.sleep(0.3)
    assert await frame.evaluate("window.said") is None
    assert retries(console) == []


async def test_a_page_that_is_closed_takes_its_question_along(
    console: Console, visitor: Person
) -> None:
    frame = await asked(console, visitor, {"q": form()})
    await expect(card_of(visitor)).to_be_visible()
    await frame.evaluate("note('ui/notifications/request-teardown')")
    await visitor.closed("The page asked to be closed")
    await expect(card_of(visitor)).to_be_hidden()
    assert retries(console) == []


async def test_the_persons_own_run_is_asked_the_same_way(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor, annotations={}, inputSchema={"type": "object"})
    console.toys.on_call = asking({"q": form()})
    await press(visitor.page.get_by_role("dialog"), "Run")
    card = card_of(visitor)
    await card.get_by_label("Colour").select_option("red")
    await press(card, "Send")
    told = await heard(frame, 2)
    assert told[1]["params"] == DONE
    assert [call["surface"] for call in console.relay.calls()] == ["run", "run"]
    await visitor.state("Ready")


async def test_the_send_button_takes_no_press_in_its_first_moment(
    console: Console, visitor: Person
) -> None:
    await asked(console, visitor, {"q": form(schema=wanting())})
    send = card_of(visitor).get_by_role("button", name="Send")
    await send.wait_for()
    await send.click(force=True, no_wait_after=True)
    await asyncio.sleep(0.3)
    assert retries(console) == []


async def test_a_server_that_never_stops_asking_is_given_up(
    console: Console, visitor: Person
) -> None:
    secret = wanting(pin={"type": "string"})
    frame = await asked(console, visitor, *[{"q": form(schema=secret)}] * 20)
    said = await until(frame, "window.said")
    assert said["error"]["message"] == "paint asked too often, and was given up."
    assert len(retries(console)) == 9


async def test_a_wish_to_be_asked_again_is_granted_after_a_while(
    console: Console, visitor: Person
) -> None:
    frame = await asked(console, visitor, {})
    said = await until(frame, "window.said")
    assert said["result"] == DONE
    assert retries(console) == [None]
