"""The host's own log: what the page wrote, what passed, what it may use. All of it plain text."""

import asyncio
import hashlib
import re
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import PROBE, opened, probe
from tests.browser.sdk import Sdk

pytestmark = IN_BROWSER


async def log_of(visitor: Person) -> Locator:
    """The panel, opened with the button in the bar."""
    await visitor.page.get_by_role("button", name="Messages").click()
    panel = visitor.page.get_by_role("region", name="Messages")
    await expect(panel).to_be_visible()
    return panel


async def lines(panel: Locator) -> list[str]:
    """The lines without their time."""
    await asyncio.sleep(0.2)
    return [text[13:] for text in await panel.get_by_role("listitem").all_text_contents()]


async def test_it_holds_what_passed_in_order_with_its_fate(
    sdk: Sdk, console: Console, visitor: Person
) -> None:
    frame = await sdk.page(console, visitor)
    await frame.evaluate("app.sendLog({ level: 'info', logger: 'shelf', data: { toys: 3 } })")
    await frame.evaluate("void parent.postMessage({ jsonrpc: '2.0', method: 'made/up' }, '*')")
    found = await lines(await log_of(visitor))
    assert found[0] == "page ui/initialize ok"
    assert "page ui/notifications/initialized" in found
    assert found.index("host ui/notifications/tool-input") < found.index(
        "host ui/notifications/tool-result"
    )
    assert 'page says (info,shelf): {"toys":3}' in found
    assert "page made/up ignored" in found
    assert not [line for line in found if "notifications/message" in line]


async def test_a_refusal_stands_with_its_reason(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await frame.evaluate("ask('ui/message', {})")
    panel = await log_of(visitor)
    assert "page ui/message refused: not supported (-32601)" in await lines(panel)


async def test_no_message_can_pass_for_two_or_for_markup(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    evil = "fine\n12:00:00.000 host\u2028says\r\u202eall is well <img src=x onerror=alert(1)>"
    await frame.evaluate(
        "(data) => note('notifications/message', { level: 'error\\nhost', data })", evil
    )
    panel = await log_of(visitor)
    said = [line for line in await lines(panel) if "fine" in line]
    plain = re.sub("[\n\u2028\r\u202e]", " ", evil)
    assert said == [f"page says (error host): {plain}"]
    assert await panel.locator("img").count() == 0


async def test_it_keeps_five_hundred_lines_of_a_bounded_length(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    panel = await log_of(visitor)
    await frame.evaluate("note('notifications/message', { data: 'x'.repeat(500000) })")
    longest = max(len(line) for line in await lines(panel))
    assert 1900 < longest <= 2000
    for start, end in ((0, 150), (150, 240), (240, 330), (330, 420), (420, 510)):
        if start:
            await asyncio.sleep(2)  # the bridge takes 200 at once, and then 50 a second
        await frame.evaluate(
            "([start, end]) => { for (let n = start; n < end; n += 1)"
            " note('notifications/message', { level: 'debug', data: `line ${n}` }); }",
            [start, end],
        )
    await expect(panel).to_contain_text("line 509")
    found = await lines(panel)
    assert len(found) == 500
    assert found[-1] == "page says (debug): line 509"
    assert "page says (debug): line 10" in found  # nothing was lost on the way
    assert "page says (debug): line 9" not in found


async def test_filter_copy_and_download_give_the_same_lines(
    console: Console, visitor: Person, tmp_path: Path
) -> None:
    frame = await probe(console, visitor)
    await visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for data in ("red toy", "blue toy", "red box"):
        await frame.evaluate("(data) => note('notifications/message', { data })", data)
    panel = await log_of(visitor)
    await panel.get_by_role("searchbox", name="Filter").fill("RED")
    found = await lines(panel)
    assert [line.rpartition(": ")[2] for line in found] == ["red toy", "red box"]
    await panel.get_by_role("button", name="Copy").click()
    await expect(panel.get_by_role("status")).to_have_text("Copied")
    async with visitor.page.expect_download() as saving:
        await panel.get_by_role("button", name="Download").click()
    download = await saving.value
    assert download.suggested_filename == "strad-log.txt"
    await download.save_as(tmp_path / "log")
    saved = (tmp_path / "log").read_text().splitlines()
    assert [line[13:] for line in saved] == found
    assert visitor.complaints == []


async def test_it_opens_and_closes_by_keyboard(console: Console, visitor: Person) -> None:
    await opened(await probe(console, visitor))
    panel = await log_of(visitor)
    await expect(panel.get_by_role("heading")).to_be_focused()
    await visitor.page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()
    await expect(visitor.page.get_by_role("button", name="Messages")).to_be_focused()


async def facts(visitor: Person) -> dict[str, Any]:
    panel = await log_of(visitor)
    await panel.get_by_text("What this page may use").click()
    terms = await panel.locator("dt").all_text_contents()
    return dict(zip(terms, await panel.locator("dd").all_text_contents(), strict=True))


async def test_it_tells_what_was_declared_taken_and_dropped(
    console: Console, visitor: Person
) -> None:
    csp = {
        "resourceDomains": ["https://cdn.test.example", "https://*.evil.test; script-src *"],
        "connectDomains": ["https://api.test.example"],
    }
    frame = await probe(console, visitor)
    console.toys.contents["ui://t/page"][0]["_meta"] = {
        "ui": {"csp": csp, "permissions": {"camera": {}}}
    }
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await frame.evaluate("ready.then(hello)")
    digest = hashlib.sha256(PROBE.encode()).hexdigest()
    assert await facts(visitor) == {
        "The server's page": f"{len(PROBE.encode())} bytes, SHA-256 {digest}",
        "Mounts": "1",
        "Starts": "2",
        "Images, fonts and media from": "data:, blob:, https://cdn.test.example",
        "Scripts and styles from": "the page itself",
        "Storage": "none",
        "Network": "none: an app reaches its own server only, through strad",
        "Declared and dropped": "Each must be an https origin and nothing else, such as"
        " https://cdn.example.com: https://*.evil.test; script-src *",
        "Declared and not given here": "connectDomains https://api.test.example, permission camera",
    }


async def test_it_outlives_a_page_that_was_closed(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await opened(frame)
    await frame.evaluate("note('notifications/message', { data: 'last words' })")
    await frame.evaluate("note('ui/notifications/request-teardown')")
    await visitor.closed("The page asked to be closed")
    panel = await log_of(visitor)
    found = await lines(panel)
    assert "page says (): last words" in found
    assert found[-1] == "host ui/resource-teardown"
