"""A server that fails while a person looks: each way has words of its own, in the page's place."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.apphost.console import Console
from tests.apphost.pair import pair
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import PROBE
from tests.browser.working import working_with

pytestmark = IN_BROWSER


def item(**changes: Any) -> list[dict[str, Any]]:
    whole = {"uri": "ui://t/page", "mimeType": "text/html;profile=mcp-app", "text": "<p>x"}
    return [{name: value for name, value in (whole | changes).items() if value is not None}]


BROKEN = {
    "of another type": (
        item(mimeType="text/html"),
        "The server sent something that is not a page for a console.",
        "Its type is “text/html”; it must be text/html;profile=mcp-app.",
    ),
    "not text": (
        item(text=None, blob="iVBORw0KGgo="),
        "The server's page cannot be shown.",
        "UTF-8",
    ),
    "empty": (item(text=" "), "The server's page cannot be shown.", "It is empty."),
    "gone": (None, "The server has no such page.", "Open the app from the console."),
}


@pytest.mark.parametrize("way", BROKEN)
async def test_a_page_that_is_none_says_why_in_its_place(
    console: Console, visitor: Person, way: str
) -> None:
    contents, title, advice = BROKEN[way]
    if contents is not None:
        console.toys.contents["ui://t/page"] = contents
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await expect(frame.locator("h1")).to_have_text(title)
    await expect(frame.locator("main")).to_contain_text(advice)
    await visitor.state("Not shown")
    assert console.relay.calls() == []


async def test_a_server_that_goes_away_meanwhile_is_named_and_may_come_back(
    browser: Browser,
) -> None:
    async def work(_: Any, __: Any) -> None:
        """It is done at once."""

    server = working_with(PROBE, work)
    async with (
        server.restartable() as (url, stop, start),
        pair([{"slug": "a", "name": "Toy shop", "url": url}]) as both,
    ):
        person = await Person.at(browser, both.url)
        await person.take_session(both.cookie)
        await person.open("/apps/a")
        frame = await person.app()
        call = "ask('tools/call', { name: 'go', arguments: {} })"
        assert "result" in await frame.evaluate(call)
        await stop()
        try:
            answer = await frame.evaluate(call)
            assert answer["error"]["message"].startswith("Toy shop cannot be reached.")
            assert await person.page.locator("iframe").count() == 1  # what is shown stays
            await person.page.get_by_role("button", name="Reload").click()
            await person.state("Not shown")
            title = (await person.app()).get_by_role("heading", name="Toy shop cannot be reached.")
            await expect(title).to_be_visible()
        finally:
            await start()
        await person.page.reload()
        assert "result" in await (await person.app()).evaluate(call)
        await person.leave()
