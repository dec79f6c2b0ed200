"""What a page may ask of its host, and what it learns."""

from typing import Any

import pytest

from shared.contracts.problems import Problem, ProblemKind
from tests.apphost.console import Console
from tests.apphost.fake_relay import Fault
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import RESULT, heard, opened, probe

pytestmark = IN_BROWSER


async def test_initialize_answers_id_0_with_what_is_true(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    answer = await frame.evaluate("ready")
    assert answer["id"] == 0
    result = answer["result"]
    assert result["protocolVersion"] == "2026-01-26"
    assert result["hostInfo"] == {"name": "strad", "version": "0.1.0"}
    assert result["hostCapabilities"] == {
        "openLinks": {},
        "downloadFile": {},
        "logging": {},
        "serverResources": {},
        "serverTools": {},
        "experimental": {"x-strad/key": {}, "x-strad/search": {}, "x-strad/hash": {}},
    }
    context = result["hostContext"]
    assert context["theme"] == "light"
    assert context["displayMode"] == "inline"
    assert context["toolInfo"]["tool"]["name"] == "show"
    assert context["containerDimensions"]["height"] > 500
    again = await frame.evaluate("hello()")
    assert again["result"]["hostInfo"] == result["hostInfo"]


async def test_a_change_of_theme_is_told(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    await visitor.page.emulate_media(color_scheme="dark")
    told = (await heard(frame, 3))[-1]
    assert told["method"] == "ui/notifications/host-context-changed"
    assert told["params"] == {"theme": "dark"}


async def test_a_change_of_language_or_time_zone_is_told(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    before = (await frame.evaluate("ready"))["result"]["hostContext"]
    tab = await visitor.context.new_cdp_session(visitor.page)
    agent = await visitor.page.evaluate("navigator.userAgent")
    told = {"userAgent": agent, "acceptLanguage": "fr-CA"}
    await tab.send("Emulation.setUserAgentOverride", told)
    await tab.send("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
    assert before["locale"] != "fr-CA"
    assert before["timeZone"] != "Asia/Tokyo"
    for name in ("languagechange", "visibilitychange"):  # the second time, nothing has changed
        event = f"new Event('{name}', {{ bubbles: true }})"
        await visitor.page.evaluate(f"void document.dispatchEvent({event})")
    here = {"locale": "fr-CA", "timeZone": "Asia/Tokyo"}
    assert [one["params"] for one in (await heard(frame, 3))[2:]] == [here]
    again = (await frame.evaluate("hello()"))["result"]["hostContext"]
    assert again | here == again


async def test_ping_is_answered_and_other_methods_are_not_supported(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    assert (await frame.evaluate("ask('ping')"))["result"] == {}
    for method in (
        "ui/message",
        "ui/update-model-context",
        "sampling/createMessage",
        "resources/templates/list",
        "resources/subscribe",
        "prompts/list",
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
    await opened(frame)
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
    await opened(frame)

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
    await opened(frame)
    console.relay.problem = Problem(kind, "Ended.")
    await frame.evaluate("void ask('tools/call', { name: 'plain' })")
    await visitor.closed(title)


async def test_query_and_hash_of_the_address_reach_the_page(
    console: Console, visitor: Person
) -> None:
    frame = await probe(
        console, visitor, "?view=week&token=SECRET&uri=ui%3A%2F%2Ft%2Fpage&q=a+b%26#item-3"
    )
    search, fragment = await frame.evaluate("[location.search, location.hash]")
    assert search == "?uri=ui%3A%2F%2Ft%2Fpage&view=week&q=a+b%26"
    assert fragment == "#item-3"


async def test_a_page_reads_its_server_and_sees_the_tools_it_may_call(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    console.toys.tool("hidden", _meta={"ui": {"visibility": ["model"]}})
    console.toys.resources = [{"uri": "toys://shelf/1", "name": "One"}]
    item = {"uri": "toys://shelf/1", "mimeType": "text/plain", "text": "three"}
    console.toys.contents["toys://shelf/1"] = [item]
    listed = await frame.evaluate("ask('tools/list')")
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["show"]
    listed = await frame.evaluate("ask('resources/list', {})")
    assert listed["result"] == {"resources": console.toys.resources}
    read = await frame.evaluate("ask('resources/read', { uri: 'toys://shelf/1' })")
    assert read["result"] == {"contents": [item]}
    read = await frame.evaluate("ask('resources/read', { uri: 'toys://none' })")
    assert read["error"] == {"code": -32002, "message": "Resource not found"}
    assert {one["slug"] for one in console.relay.asked} == {"toys"}


async def test_odd_reads_are_refused_in_the_browser(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    before = len(console.relay.asked)
    for params in ({}, {"uri": 7}, {"uri": ""}, {"uri": "x" * 2049}, {"uri": ["toys://a"]}):
        answer = await frame.evaluate("(params) => ask('resources/read', params)", params)
        assert answer["error"]["code"] == -32602
    for method in ("tools/list", "resources/list"):
        answer = await frame.evaluate("(method) => ask(method, { cursor: '2' })", method)
        assert answer["error"]["code"] == -32602
    assert len(console.relay.asked) == before


async def test_a_right_that_ended_is_noticed_by_a_read_too(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    console.relay.problem = Problem(ProblemKind.NOT_FOUND, "Ended.")
    await frame.evaluate("void ask('resources/list')")
    await visitor.closed("You no longer have this app")
