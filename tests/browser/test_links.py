"""Links of a page: the person sees the whole address and opens it, or not."""

from playwright.async_api import expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import probe

pytestmark = IN_BROWSER


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
    assert answer["error"]["message"] == "Another question is open."
    await expect(visitor.page.locator("#link-address")).to_have_text("https://one.test/")
