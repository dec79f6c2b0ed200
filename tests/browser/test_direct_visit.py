"""A person at a frame's own address, outside the host page: what it says, and where it leads."""

import re

from playwright.async_api import Browser, expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.sink import Sink

pytestmark = IN_BROWSER

PATH = "/apps/toys/frame?uri=ui%3A%2F%2Ft%2Fpage"


def ship(console: Console, html: str = "<!doctype html><p>opened") -> None:
    console.toys.page(html)
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})


async def come_from_another_site(console: Console, visitor: Person) -> None:
    """Follow a link of another site to the frame: that is refused."""
    evil = visitor.url.replace("127.0.0.1", "localhost")
    link = f'<a href="{console.url}{PATH}">go</a>'
    await visitor.context.route(
        f"{evil}/evil", lambda route: route.fulfill(content_type="text/html", body=link)
    )
    await visitor.page.goto(f"{evil}/evil")
    await visitor.page.get_by_role("link", name="go").click()
    await expect(
        visitor.page.get_by_text("This page opens inside the console only.")
    ).to_be_visible()


async def test_the_link_of_a_refused_visit_leads_to_the_app_which_asks(
    console: Console, visitor: Person
) -> None:
    ship(console)
    await come_from_another_site(console, visitor)
    link = visitor.page.get_by_role("link", name=f"{console.url}/apps/toys", exact=True)
    await link.click()
    await visitor.page.wait_for_url(f"{console.url}/apps/toys")
    await expect(visitor.page.get_by_role("heading")).to_have_text("Open “toys”?")
    assert console.relay.asked == []
    await visitor.page.get_by_role("link", name="Open", exact=True).click()
    await expect((await visitor.app()).locator("p")).to_have_text("opened")


async def test_the_link_of_a_signed_out_visit_leads_to_the_app_too(
    console: Console, browser: Browser
) -> None:
    ship(console)
    stranger = await Person.at(browser, console.url)
    await stranger.open(PATH)
    await expect(stranger.page.get_by_role("heading")).to_have_text("You are not signed in.")
    await stranger.page.get_by_role("link").click()
    await stranger.page.wait_for_url(f"{console.url}/apps/toys")
    await stranger.leave()


async def test_that_one_address_is_the_only_way_out_of_a_refused_visit(
    console: Console, visitor: Person, sink: Sink
) -> None:
    ship(console)
    await come_from_another_site(console, visitor)
    # the page holds no script of anybody's; ours stands for whatever could get into it
    for place in (sink.url, f"{console.url}/", f"{console.url}/apps/other"):
        await visitor.page.evaluate("(place) => { location.href = place }", place)
        await visitor.page.wait_for_url(re.compile("^chrome-error:"))
        await visitor.page.goto(f"{visitor.url.replace('127.0.0.1', 'localhost')}/evil")
        await visitor.page.get_by_role("link", name="go").click()
    assert sink.heard == []


async def test_a_servers_page_opened_directly_has_no_way_out(
    console: Console, visitor: Person, sink: Sink
) -> None:
    ship(console, f'<!doctype html><a id="out" target="_self" href="{sink.url}">out</a>')
    for place in (sink.url, f"{console.url}/apps/toys"):
        await visitor.open(PATH)
        assert await visitor.page.evaluate("origin") == "null"
        await visitor.page.evaluate("(place) => { location.href = place }", place)
        await visitor.page.wait_for_url(re.compile("^chrome-error:"))
    assert sink.heard == []
