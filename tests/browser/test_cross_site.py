"""A link from another site: it asks, runs nothing, and one click opens."""

import asyncio
import re
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.elsewhere import WAYS, elsewhere
from tests.browser.people import Person

pytestmark = IN_BROWSER


@pytest_asyncio.fixture(loop_scope="session")
async def evil(console: Console) -> AsyncIterator[str]:
    """Another site, to be completed with a way from there to the console."""
    async with elsewhere(console.url) as address:
        yield address


def ship(console: Console) -> None:
    console.toys.page("<!doctype html><p>opened")
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})


@pytest.mark.parametrize("way", WAYS)
async def test_every_way_from_another_site_asks_first(
    console: Console, visitor: Person, evil: str, way: str
) -> None:
    ship(console)
    page = visitor.page
    await page.goto(evil + way)
    if await page.locator("#go").count():
        await page.locator("#go").click(no_wait_after=True)
    if way in {"new tab", "window"}:
        page = (
            await visitor.context.wait_for_event("page")
            if len(visitor.context.pages) == 1
            else visitor.context.pages[-1]
        )
    await page.wait_for_url(re.compile("/apps/toys"))
    await expect(page.get_by_role("heading")).to_have_text("Open “toys”?")
    await asyncio.sleep(0.2)
    assert console.relay.asked == []


async def test_one_click_opens_with_query_and_hash_but_no_token(
    console: Console, visitor: Person, evil: str
) -> None:
    ship(console)
    await visitor.page.goto(evil + "link")
    await visitor.page.locator("#go").click()
    await visitor.page.get_by_role("link", name="Open", exact=True).click()
    frame = await visitor.app()
    await expect(frame.locator("p")).to_have_text("opened")
    assert visitor.page.url == f"{visitor.url}/apps/toys?view=week#item-3"
    assert frame.url.endswith("frame?uri=ui%3A%2F%2Ft%2Fpage&view=week#item-3")


@pytest.mark.parametrize("query", ["", "?", "?view=week", "?view=week&"])
async def test_a_link_opens_that_has_nothing_to_leave_out_but_its_hash(
    console: Console, visitor: Person, evil: str, query: str
) -> None:
    ship(console)
    await visitor.page.goto(evil + "link&target=" + quote(f"/apps/toys{query}#item-3"))
    await visitor.page.locator("#go").click()
    await expect(visitor.page.get_by_role("heading")).to_have_text("Open “toys”?")
    await visitor.page.keyboard.press("F5")  # and none of it is lost by a reload
    await visitor.page.get_by_role("link", name="Open", exact=True).click()
    await expect((await visitor.app()).locator("p")).to_have_text("opened")
    assert visitor.page.url == f"{visitor.url}/apps/toys{query.rstrip('?&')}#item-3"


async def test_a_reload_of_the_page_that_asks_still_asks(
    console: Console, visitor: Person, evil: str
) -> None:
    ship(console)
    await visitor.page.goto(evil + "link")
    await visitor.page.locator("#go").click()
    await visitor.page.wait_for_url(re.compile("/apps/toys"))
    await visitor.page.keyboard.press("F5")
    await asyncio.sleep(0.5)
    await expect(visitor.page.get_by_role("heading")).to_have_text("Open “toys”?")
    assert console.relay.asked == []


async def test_without_scripts_the_page_that_asks_still_opens(
    console: Console, visitor: Person
) -> None:
    ship(console)
    answer = await console.get("/apps/toys?a=1", Sec_Fetch_Site="cross-site")
    assert '<a class="button button-primary button-wide" id="open" href="/apps/toys?a=1">' in (
        answer.text
    )
