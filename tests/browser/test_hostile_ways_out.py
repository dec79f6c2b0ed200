"""One attack a file: pages that send data out, or themselves elsewhere. A sink hears nothing."""

import asyncio
import time

import pytest
from playwright.async_api import Browser, Frame

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.attacks import AWAY, HEARD, OUT, shows, without_a_bridge
from tests.browser.careless import careless
from tests.browser.people import Person, until
from tests.browser.probe import hostile
from tests.browser.sink import Sink

pytestmark = IN_BROWSER

AFTERMATH = 0.7  # seconds in which a late request would still arrive
SPLICED = [
    "https://x.test; connect-src *",
    "https://x.test;connect-src\thttp:",
    "*",
    "http:",
    "SINK",
]


async def tried(frame: Frame) -> None:
    """The page has done what it does, a person's click on it included."""
    await until(frame, "globalThis.done")
    if await frame.locator("#go").count():
        await frame.locator("#go").click(no_wait_after=True)
    await asyncio.sleep(AFTERMATH)


@pytest.mark.parametrize("name", AWAY)
async def test_a_page_that_goes_elsewhere_is_closed_before_it_gets_there(
    console: Console, visitor: Person, sink: Sink, name: str
) -> None:
    shown: list[str] = []
    visitor.page.on("framenavigated", lambda frame: shown.append(frame.url.split("?")[0]))
    await shows(console, visitor, f"away_by_{name}", sink=sink.url)
    await visitor.closed("The page tried to load another page")
    await asyncio.sleep(AFTERMATH)
    host = f"{visitor.url}/apps/toys"
    assert set(shown) <= {host, f"{host}/frame", "chrome-error://chromewebdata/"}
    assert sink.heard == []
    assert console.relay.calls() == []
    assert visitor.page.url == f"{visitor.url}/apps/toys"


async def test_a_page_cannot_send_itself_elsewhere_as_a_form(
    console: Console, visitor: Person, sink: Sink
) -> None:
    await shows(console, visitor, "away_by_form", sink=sink.url)
    frame = await visitor.app()
    await tried(frame)
    assert sink.heard == []
    assert await visitor.page.locator("iframe").count() == 1
    assert "/apps/toys/frame?" in frame.url


@pytest.mark.parametrize("name", OUT)
async def test_a_page_sends_nothing_out(
    console: Console, visitor: Person, sink: Sink, name: str
) -> None:
    await shows(console, visitor, name, sink=sink.url)
    await tried(await visitor.app())
    assert sink.heard == []
    assert console.relay.calls() == []


@pytest.mark.parametrize("entry", SPLICED)
async def test_nothing_that_a_server_declares_is_spliced_into_the_policy(
    console: Console, visitor: Person, sink: Sink, entry: str
) -> None:
    declared = [entry.replace("SINK", sink.url)]
    csp = {"resourceDomains": declared, "connectDomains": declared, "frameDomains": declared}
    page = hostile("out_by_spliced_policy", sink.url)
    console.toys.page(page, _meta={"ui": {"csp": csp}})
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await tried(frame)
    assert sink.heard == []
    # by the policy itself, and not only by the allowlist of connections beside it
    stopped = await until(frame, "stopped.length > 2 && stopped")
    assert sorted(stopped) == ["connect-src", "img-src", "script-src-elem"]


async def test_without_our_policy_every_one_of_these_pages_gets_out(
    browser: Browser, sink: Sink
) -> None:
    """The positive control: the attacks are real, and the sink hears."""
    names = [*(f"away_by_{name}" for name in [*AWAY, "form"]), *OUT]
    async with careless({name: without_a_bridge(name, sink.url) for name in names}) as address:
        page = await browser.new_page(viewport={"width": 1280, "height": 4000})
        await page.goto(address)
        for frame in page.frames[1:]:
            if "/out_by" in frame.url and await frame.locator("#go").count():
                await frame.locator("#go").click(no_wait_after=True)
        end = time.monotonic() + 15
        while missing := {way for way in HEARD if way not in " ".join(sink.heard)}:
            assert time.monotonic() < end, missing
            await asyncio.sleep(0.1)
        await page.context.close()
