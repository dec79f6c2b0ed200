"""One attack a file: what a page says to its host, and what it draws. Nothing of it is believed."""

import asyncio
from typing import Any

from playwright.async_api import Browser, expect

from tests.apphost.console import Console
from tests.apphost.pair import pair
from tests.browser import IN_BROWSER
from tests.browser.attacks import shows
from tests.browser.people import Person, until
from tests.browser.probe import RESULT, hostile
from tests.browser.working import URI
from tests.relay.upstreams import Fake, modern_fake

pytestmark = IN_BROWSER

SHOW = {"name": "show", "inputSchema": {"type": "object"}, "_meta": {"ui": {"resourceUri": URI}}}
VISIBILITY: dict[str, Any] = {
    "model_only": ["model"],
    "nobody": [],
    "unknown_words": ["App", "apps"],
    "no_list": "app",
}
# whether it is what a person sees in its middle (what is inert is seen, though nothing hits it)
IS_ON_TOP = """(selector) => {
  const frame = document.querySelector("iframe");
  const { inert } = frame;
  frame.inert = false;
  const element = document.querySelector(selector);
  const { x, y, width, height } = element.getBoundingClientRect();
  const seen = document.elementFromPoint(x + width / 2, y + height / 2);
  frame.inert = inert;
  return element.contains(seen);
}"""
WHOLE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}


def server(html: str, *tools: dict[str, Any]) -> Fake:
    """A server with this page and these tools, which all answer."""
    item = {"uri": URI, "mimeType": "text/html;profile=mcp-app", "text": html}
    more = {
        "resources/read": lambda *_: {"result": {"contents": [item]} | WHOLE},
        "resources/list": lambda *_: {"result": {"resources": [{"uri": URI, "name": "v"}]} | WHOLE},
    }
    said = {"content": [{"type": "text", "text": "the secret"}], "resultType": "complete"}
    return modern_fake([SHOW, *tools], lambda *_: {"result": said}, **more)


def tool(name: str, visibility: Any = None) -> dict[str, Any]:
    meta = {} if visibility is None else {"_meta": {"ui": {"visibility": visibility}}}
    return {"name": name, "inputSchema": {"type": "object"}, **meta}


async def answers(browser: Browser, a: Fake, b: Fake, count: int) -> list[dict[str, Any]]:
    """What the page of `a` is answered, for a person who may use `b` as well."""
    async with (
        a.served() as url_a,
        b.served() as url_b,
        pair([{"slug": "a", "url": url_a}, {"slug": "b", "url": url_b}]) as both,
    ):
        person = await Person.at(browser, both.url)
        await person.take_session(both.cookie)
        await person.open("/apps/a")
        frame = await person.app()
        await until(frame, f"answers.length >= {count}")
        found: list[dict[str, Any]] = await frame.evaluate("answers")
        await person.leave()
        return found


async def test_a_page_cannot_call_what_is_not_visible_to_pages(browser: Browser) -> None:
    hidden = [tool(name, visibility) for name, visibility in VISIBILITY.items()]
    a = server(hostile("visibility_bypass"), *hidden)
    found = await answers(browser, a, server("<p>b"), 12)
    assert len(found) == 12
    assert {one["error"]["code"] for one in found} == {-32602}
    assert "tools/call" not in a.methods


async def test_a_page_cannot_reach_another_server_of_the_same_person(browser: Browser) -> None:
    a = server(hostile("another_servers_tool"))
    b = server("<p>b", tool("secret"))
    found = {one["id"]: one for one in await answers(browser, a, b, 14)}
    assert {found[number]["error"]["code"] for number in range(9)} == {-32602}
    assert found[13]["error"]["code"] == -32601
    assert "the secret" not in str(found)
    assert [one["uri"] for one in found[11]["result"]["resources"]] == [URI]  # its own
    assert [one["name"] for one in found[12]["result"]["tools"]] == ["show"]
    assert {"tools/call", "resources/read", "resources/list"}.isdisjoint(b.methods)
    assert "tools/call" not in a.methods


async def test_messages_far_too_large_are_refused_and_the_bridge_lives(
    console: Console, visitor: Person
) -> None:
    await shows(console, visitor, "oversize_messages")
    frame = await visitor.app()
    await until(frame, "answers.some(({ id }) => id === 'last')", 20)
    found = {one["id"]: one.get("error", {}).get("code") for one in await frame.evaluate("answers")}
    refused: dict[Any, Any] = dict.fromkeys([1, 2, 3, 4, 5, 7], -32600)
    assert found == refused | {"last": None}
    assert console.relay.calls() == []
    assert visitor.page.url == f"{visitor.url}/apps/toys"


async def test_no_key_of_a_page_becomes_a_key_of_the_hosts_objects(
    console: Console, visitor: Person
) -> None:
    console.toys.on_call = lambda _: RESULT
    await shows(console, visitor, "prototype_keys")
    frame = await visitor.app()
    await until(frame, "answers.some(({ id }) => id === 'call')")
    found = [one for one in await frame.evaluate("answers") if "id" in one]
    codes = {one["id"]: one.get("error", {}).get("code") for one in found}
    refused: dict[Any, Any] = dict.fromkeys(range(1, 8), -32601)
    assert codes == refused | {0: None, "call": None}
    clean = "Object.keys(Object.prototype).length === 0 && ({}).polluted === undefined"
    assert await visitor.page.evaluate(clean)
    assert visitor.complaints == []
    # the names are only names: they arrive as they were sent, and the address bar holds them too
    sent = {call["params"]["name"]: call["params"]["arguments"] for call in console.relay.calls()}
    assert sent["plain"] == {"__proto__": {"polluted": True}, "a": 1}
    assert visitor.page.url.endswith("?__proto__=1&constructor=2")


async def test_a_page_can_neither_cover_nor_be_the_consoles_own_surface(
    console: Console, visitor: Person
) -> None:
    console.toys.page(hostile("fake_chrome"))
    console.toys.tool("show", "ui://t/page")  # it writes, so strad asks: on its own surface
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    run = visitor.page.locator("#run-now")
    await expect(run).to_be_enabled()
    for selector in (".app-bar h1", "#state", "#run-now"):
        assert await visitor.page.evaluate(IS_ON_TOP, selector), selector
    bar = await visitor.page.locator(".app-bar").bounding_box()
    page = await visitor.page.locator("iframe").bounding_box()
    assert bar is not None
    assert page is not None
    assert page["y"] >= bar["y"] + bar["height"]
    await expect(visitor.page.locator(".app-bar h1")).to_have_text("Toy shop")
    await visitor.page.locator("#run-later").click()
    # its own buttons are only its own
    await frame.locator("#fullscreen").click()
    await frame.locator("#run-now").click()
    await until(frame, "globalThis.done && heard.length >= 3")
    await asyncio.sleep(0.3)
    assert await visitor.page.evaluate("document.fullscreenElement") is None
    assert await frame.evaluate("document.fullscreenElement") is None
    assert console.relay.calls() == []
