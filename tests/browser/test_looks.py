"""The pages of the console in both themes and on a phone: pictures for people, and what can be
measured of them. `STRAD_README_PICTURE=1` also renews the picture in the README."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.apphost.console import Console
from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.browser.probe import PROBE, SCHEMA
from tests.browser.test_asks import asked, card_of, form, visit
from tests.live import LiveStack

pytestmark = IN_BROWSER

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "artifacts" / "screenshots"
README_PICTURE = ROOT / "docs" / "images" / "console.png"

WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 780}
LOOKS = [
    pytest.param("light", WIDE, id="light"),
    pytest.param("dark", WIDE, id="dark"),
    pytest.param("light", PHONE, id="phone"),
    pytest.param("dark", PHONE, id="phone-dark"),
]


@pytest_asyncio.fixture(loop_scope="session")
async def eyes(
    stack: LiveStack, browser: Browser, request: pytest.FixtureRequest
) -> AsyncIterator[Person]:
    """Ada, signed in, with the theme and the screen of a test's parameters."""
    theme, screen = request.param
    person = await Person.at(browser, stack.url, color_scheme=theme, viewport=screen)
    await person.sign_in("Ada Lovelace")
    yield person
    await person.leave()


async def picture(person: Person, name: str, look: str) -> None:
    """Keep a picture; nothing may stick out sideways, and no text may be cut off by the screen."""
    await person.page.mouse.move(0, 0)
    PICTURES.mkdir(parents=True, exist_ok=True)
    await person.page.screenshot(path=PICTURES / f"{name}.{look}.png")
    wide = await person.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"{name} is {wide} px too wide"


@pytest.mark.parametrize(
    ("eyes", "look"),
    [((p.values[0], p.values[1]), p.id) for p in LOOKS],
    indirect=["eyes"],
    ids=[p.id for p in LOOKS],
)
async def test_the_pages_of_the_demo(eyes: Person, look: str) -> None:
    await picture(eyes, "home", look)
    await eyes.open("/apps/catalog")
    frame = await eyes.app()
    await expect(frame.locator("#shelf > *").first).to_be_visible()
    await eyes.state("Ready")
    await picture(eyes, "catalog", look)
    if look == "light" and os.environ.get("STRAD_README_PICTURE") == "1":
        README_PICTURE.parent.mkdir(parents=True, exist_ok=True)
        await eyes.page.screenshot(path=README_PICTURE)
    await eyes.open("/apps/hostile")
    frame = await eyes.app()
    await expect(frame.locator("html[data-done=true]")).to_be_attached(timeout=90_000)
    if await eyes.page.locator("#link").is_visible():  # it asks for an address; not in the picture
        await eyes.page.locator("#link").get_by_role("button", name="Cancel").click()
    await picture(eyes, "hostile", look)
    await eyes.open("/apps/nosuch")
    await picture(eyes, "not-found", look)


@pytest.mark.parametrize(("theme", "screen"), LOOKS)
async def test_what_the_host_says(
    console: Console,
    browser: Browser,
    request: pytest.FixtureRequest,
    theme: str,
    screen: dict[str, int],
) -> None:
    look = request.node.callspec.id
    person = await Person.at(browser, console.url, color_scheme=theme, viewport=screen)
    await person.take_session(await console.sign_in())
    console.toys.page(PROBE)
    console.toys.tool("restock", "ui://t/page", title="Restock toys", inputSchema=SCHEMA)
    await person.open("/apps/toys")
    await expect(person.page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    await picture(person, "run", look)
    await person.page.get_by_role("button", name="Messages").click()
    await person.page.get_by_text("What this page may use").click()
    await picture(person, "log", look)
    await person.page.keyboard.press("Escape")
    await person.page.get_by_role("button", name="Not now").click()
    await (await person.app()).locator("#plain").click()
    await expect(person.page.get_by_role("button", name="Open")).to_be_enabled()
    await picture(person, "link", look)
    console.toys.tool("edit", "ui://t/edit", title="Edit the shelf", description="Move toys.")
    await person.open("/apps/toys")
    await picture(person, "choose", look)
    console.toys.page("x" * 6_000_000)
    await person.open("/apps/toys?uri=ui://t/page")
    await person.state("Not shown")
    await picture(person, "too-large", look)
    console.toys.page(PROBE)
    await person.open_silent("/apps/toys?uri=ui://t/page&shy")
    await person.app()
    await person.late()
    await expect(person.page.locator("#notices .notice")).to_be_visible()
    await picture(person, "silent", look)
    await (await person.app()).evaluate("void (location.search += '&again')")
    await person.closed("The page tried to load another page")
    await picture(person, "closed", look)
    await person.leave()


@pytest.mark.parametrize(("theme", "screen"), LOOKS)
async def test_what_a_server_asks(
    console: Console,
    browser: Browser,
    request: pytest.FixtureRequest,
    theme: str,
    screen: dict[str, int],
) -> None:
    look = request.node.callspec.id
    person = await Person.at(browser, console.url, color_scheme=theme, viewport=screen)
    await person.take_session(await console.sign_in())
    question = form("Which colour should the toy be painted in, and how many of them?")
    await asked(console, person, {"q": question, "v": visit("https://pay.test.example/order/7")})
    card = card_of(person)
    await expect(card.get_by_role("button", name="Send")).to_be_enabled()
    await picture(person, "ask", look)
    await card.get_by_role("button", name="Decline").click()
    await expect(card.get_by_role("button", name="Open in a new tab")).to_be_enabled()
    await picture(person, "ask-visit", look)
    await person.leave()
