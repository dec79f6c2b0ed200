"""The pages of OAuth in Chromium: what a client calls itself cannot break or hide them."""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.auth.beside import auth, start_auth, start_both
from tests.auth.conftest import Auth
from tests.auth.oauth_client import OAuthClient
from tests.browser import IN_BROWSER

__all__ = ["auth", "start_auth", "start_both"]
pytestmark = IN_BROWSER

WIDE = "document.documentElement.scrollWidth > innerWidth"


async def ask(page: Page, address: str) -> None:
    """From a client to its question, by way of the sign-in."""
    page.set_default_timeout(8000)
    await page.goto(address)
    await page.get_by_role("link", name="Sign in with").click()
    await page.get_by_role("button", name="Ada Lovelace").click()
    await page.get_by_role("button", name="Allow").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
async def test_a_client_with_the_longest_names_fits_into_the_window(
    chromium: Browser, auth: Auth, scheme: str, width: int
) -> None:
    context = await chromium.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 800},
    )
    page = await context.new_page()
    client = OAuthClient(auth, redirect="com.example." + "w" * 200 + ":/" + "w" * 200)
    await client.register(client_name="W" * 60)
    await ask(page, client.address())
    assert not await page.evaluate(WIDE)
    # no program has this scheme here, so the page after it stays
    await page.get_by_role("button", name="Allow").click()
    await page.get_by_role("heading", name="The client is connected").wait_for()
    assert not await page.evaluate(WIDE)
    await context.close()


async def test_the_boxes_are_there_only_for_who_chooses_some(chromium: Browser, auth: Auth) -> None:
    context = await chromium.new_context()
    page = await context.new_page()
    client = OAuthClient(auth)
    await client.register()
    await ask(page, client.address())
    box = page.get_by_role("checkbox", name="News")
    await expect(box).to_be_hidden()
    await page.get_by_role("radio", name="Only some").check()
    await box.check()
    await page.get_by_role("radio", name="All of yours").check()
    await page.get_by_role("button", name="Allow").click()
    await expect(page.get_by_role("alert")).to_contain_text("or at least one.")
    await expect(box).to_be_checked()
    await context.close()


async def test_the_keyboard_alone_answers_and_refusing_is_no_further_than_allowing(
    chromium: Browser, auth: Auth
) -> None:
    context = await chromium.new_context()
    page = await context.new_page()
    client = OAuthClient(auth)
    await client.register()
    await ask(page, client.address(scope="mcp:toys mcp:news"))
    await expect(page.get_by_role("checkbox", name="Toys")).to_be_checked()
    await page.get_by_role("checkbox", name="Toys").focus()
    for key in ("Space", "Tab", "Space", "Tab", "Tab", "Enter"):
        await page.keyboard.press(key)
    await expect(page.get_by_role("alert")).to_contain_text("or at least one.")
    await context.close()
