"""The sign-in page in a real browser: by mouse, by keyboard, small and dark."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, Page, expect

from demo.provider.keys import Keys
from tests.browser import IN_BROWSER
from tests.demo.conftest import SignIn, StartProvider, starting

pytestmark = IN_BROWSER


@dataclass
class Door:
    """The open sign-in page, and where the client waits."""

    page: Page
    callback: str
    complaints: list[str]


@pytest_asyncio.fixture(loop_scope="session")
async def start_provider(provider_keys: Keys) -> AsyncIterator[StartProvider]:
    """On the browser's loop."""
    async with starting(provider_keys) as start:
        yield start


@pytest_asyncio.fixture(loop_scope="session")
async def door(chromium: Browser, start_provider: StartProvider) -> AsyncIterator[Door]:
    async def landed(_request: web.Request) -> web.Response:
        return web.Response(text="<!doctype html><title>back</title>", content_type="text/html")

    client = web.Application()
    client.router.add_get("/auth/callback", landed)
    server = TestServer(client)
    await server.start_server()
    callback = str(server.make_url("/auth/callback"))
    sign_in: SignIn = await start_provider(redirect_uri=callback)
    page = await chromium.new_page(viewport={"width": 390, "height": 700}, color_scheme="dark")
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    await page.goto(
        f"{sign_in.issuer}/authorize?{urlencode(sign_in.request(redirect_uri=callback))}"
    )
    yield Door(page, callback, complaints)
    await page.close()
    await server.close()


async def test_a_click_ends_at_the_client(door: Door) -> None:
    await door.page.get_by_role("button", name="Charles Babbage").click()
    await door.page.wait_for_url(f"{door.callback}?code=*")
    assert [text for text in door.complaints if "Content Security" in text] == []


async def test_the_keyboard_alone_reaches_every_choice(door: Door) -> None:
    for name in ("Ada Lovelace", "Charles Babbage", "Cancel"):
        await door.page.keyboard.press("Tab")
        await expect(door.page.get_by_role("button", name=name)).to_be_focused()
    await door.page.keyboard.press("Enter")
    await door.page.wait_for_url(f"{door.callback}?error=access_denied*")


async def test_a_phone_shows_the_banner_and_both_people_without_scrolling(door: Door) -> None:
    await expect(door.page.get_by_text("Demo sign-in: not for real use.")).to_be_in_viewport()
    await expect(door.page.get_by_role("button", name="Charles Babbage")).to_be_in_viewport()
    assert await door.page.evaluate("document.documentElement.scrollWidth") <= 390
