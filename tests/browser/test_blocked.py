"""What the browser blocks inside a page is said, with the declaration that would help."""

import pytest
from playwright.async_api import expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import heard, probe
from tests.browser.test_log import facts, lines, log_of

pytestmark = IN_BROWSER

DECLARE = 'Declare it: _meta.ui.csp.resourceDomains: ["https://cdn.test.example"].'


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        (
            "<img src='https://cdn.test.example/a.png'>",
            f"img-src https://cdn.test.example/a.png {DECLARE}",
        ),
        (
            "<script src='https://cdn.test.example/a.js'></script>",
            "script-src-elem https://cdn.test.example/a.js Bundle it into the page; or declare"
            " https://cdn.test.example in _meta.ui.csp.resourceDomains, and have the operator set"
            " scripts: true for this app.",
        ),
        (
            "<script>try { eval('1') } catch {}</script>",
            "script-src eval Bundle the page without eval and WebAssembly.",
        ),
        (
            "<script>fetch('https://api.test.example/x').catch(() => {})</script>",
            "connect-src https://api.test.example/x There is no network here. Ask your own server:"
            " tools/call, resources/read.",
        ),
        (
            "<iframe src='https://else.test.example/'></iframe>",
            "frame-src https://else.test.example A page here does not get this.",
        ),
    ],
)
async def test_a_block_stands_in_the_log_with_what_helps(
    console: Console, visitor: Person, markup: str, said: str
) -> None:
    frame = await probe(console, visitor, extra=markup)
    await heard(frame, 2)
    assert (await facts(visitor))["Blocked"] == said
    panel = visitor.page.get_by_role("region", name="Messages")
    assert f"page was refused by its policy: {said}" in await lines(panel)


async def stands_in_the_log(visitor: Person) -> None:
    """The host has heard of a block."""
    await visitor.app()
    panel = await log_of(visitor)
    await expect(panel).to_contain_text("was refused by its policy")
    await visitor.page.keyboard.press("Escape")


async def test_a_page_that_fails_for_want_of_storage_is_told_so(
    console: Console, visitor: Person
) -> None:
    console.toys.page("<!doctype html><script>localStorage.getItem('a')</script><p>never starts")
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    await visitor.open_silent("/apps/toys")
    await stands_in_the_log(visitor)
    await visitor.late()
    notice = visitor.page.locator("#notices > [data-name=silent]")
    await expect(notice).to_contain_text("This page has not started")
    await expect(notice).to_contain_text("Blocked: storage")
    await expect(notice).to_contain_text("An operator can set storage: memory for this app.")


async def test_a_page_whose_script_is_blocked_says_so_and_gives_the_text(
    console: Console, visitor: Person
) -> None:
    console.toys.page("<!doctype html><script src='https://cdn.test.example/app.js'></script>")
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    await visitor.open_silent("/apps/toys")
    await stands_in_the_log(visitor)
    await visitor.late()
    notice = visitor.page.locator("#notices > [data-name=silent]")
    await expect(notice).to_contain_text("Blocked: script-src-elem https://cdn.test.example/app.js")
    await notice.get_by_role("button", name="Show the answer as text").click()
    await expect(visitor.page.locator("#notices")).to_contain_text("done")


async def test_a_page_that_runs_into_a_thousand_blocks_still_starts(
    console: Console, visitor: Person
) -> None:
    images = "".join(f"<img src='https://n{n}.test.example/'>" for n in range(1000))
    console.toys.page(f"<!doctype html>{images}")
    await heard(await probe(console, visitor, extra=images), 2)
    panel = await log_of(visitor)
    assert len([line for line in await lines(panel) if "was refused" in line]) == 20


async def test_a_page_that_makes_blocks_up_is_bounded_and_stays_text(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    await frame.evaluate(
        "for (let n = 0; n < 40; n += 1) note('x-strad/blocked',"
        " { directive: `<b>${n}`, what: '<img src=x onerror=alert(1)>' });"
        "note('x-strad/blocked', { directive: { toString: 1 }, what: { toString: 1 } });"
        "note('x-strad/blocked', { directive: '__proto__', what: 'y'.repeat(9000) });"
        "note('x-strad/blocked', {});"
    )
    panel = await log_of(visitor)
    await panel.get_by_text("What this page may use").click()
    told = await panel.locator("dt", has_text="Blocked").count()
    assert told == 20
    assert await panel.locator("dd img, dd b").count() == 0
    assert visitor.complaints == []
