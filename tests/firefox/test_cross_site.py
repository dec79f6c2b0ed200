"""A link from another site, in Firefox: it asks, runs nothing, and one click opens."""

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.apphost.console import Console
from tests.browser.elsewhere import WAYS, elsewhere
from tests.browser.probe import ship
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person
from tests.firefox.tab import Tab

pytestmark = IN_FIREFOX

ASKS = "document.querySelector('h1')?.textContent === 'Open “toys”?'"


@pytest_asyncio.fixture(loop_scope="session")
async def evil(console: Console) -> AsyncIterator[str]:
    """Another site, to be completed with a way from there to the console."""
    async with elsewhere(console.url) as address:
        yield address


async def follow(visitor: Person, evil: str, way: str) -> Tab:
    """Go that way; the tab in which the console then is."""
    known = len(visitor.tabs)
    await visitor.tab.goto(evil + way)
    if 'id="go"' in WAYS[way]:
        await visitor.tab.click("#go")
    return await visitor.another_tab(known) if way in {"new tab", "window"} else visitor.tab


async def test_every_way_from_another_site_asks_first(
    console: Console, visitor: Person, evil: str
) -> None:
    ship(console)
    for way in WAYS:
        visitor.tab = await visitor.new_tab()
        tab = await follow(visitor, evil, way)
        await tab.until(ASKS)
        assert console.relay.asked == [], way
    await asyncio.sleep(0.3)
    assert console.relay.asked == []


async def test_one_click_opens_with_query_and_hash_but_no_token(
    console: Console, visitor: Person, evil: str
) -> None:
    ship(console)
    tab = await follow(visitor, evil, "link")
    await tab.until(ASKS)
    await tab.bidi.send("browsingContext.reload", context=tab.context)
    await tab.until(ASKS)  # a reload still asks
    assert console.relay.asked == []
    await tab.click("#open")
    frame = await visitor.app()
    assert await tab.url() == f"{visitor.url}/apps/toys?view=week#item-3"
    address = await frame.evaluate("location.href")
    assert address.endswith("frame?uri=ui%3A%2F%2Ft%2Fpage&view=week#item-3")
    await visitor.state("Ready")


async def test_a_link_opens_that_has_nothing_to_leave_out_but_its_hash(
    console: Console, visitor: Person, evil: str
) -> None:
    ship(console)
    await visitor.tab.goto(evil + "link&target=/apps/toys%23item-3")
    await visitor.tab.click("#go")
    await visitor.tab.until(ASKS)
    await visitor.tab.click("#open")
    await visitor.app()
    assert await visitor.tab.url() == f"{visitor.url}/apps/toys#item-3"


async def test_another_site_learns_nothing_of_a_console_that_it_opened(
    console: Console, visitor: Person, evil: str
) -> None:
    ship(console)
    tab = await follow(visitor, evil, "window")
    await tab.until(ASKS)
    seen = "[opened.closed, opened.length]"
    assert await visitor.tab.evaluate(seen) == [True, 0]
    await tab.click("#open")
    await tab.frame()  # now there is a frame in it, which would be counted
    assert await visitor.tab.evaluate(seen) == [True, 0]
    assert await tab.evaluate("opener") is None


async def test_another_site_cannot_frame_host_or_page(
    console: Console, visitor: Person, evil: str
) -> None:
    ship(console, "<!doctype html><title>inside</title>")
    await visitor.tab.goto(evil + "link")
    frame = "/apps/toys/frame?uri=ui%3A%2F%2Ft%2Fpage"
    for path in ("/apps/toys", frame):
        await visitor.tab.evaluate(
            "document.body.append(Object.assign(document.createElement('iframe'),"
            f" {{ src: '{visitor.url}{path}' }}))"
        )
    await asyncio.sleep(0.7)
    for one in await visitor.tab.frames():
        title = await Tab(visitor.bidi, one["context"]).evaluate("document.title")
        assert title != "inside"
    assert console.relay.asked == []
