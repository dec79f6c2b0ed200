"""Sign-in and tokens in a real browser: what it keeps, sends, refuses and shows."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio
from aiohttp import web
from playwright.async_api import Browser, BrowserContext, Page, Request

from services.auth.operator import links
from shared.contracts.wire import SESSION_COOKIE, SIGN_IN_COOKIE
from tests.auth.beside import auth, start_auth, start_both
from tests.auth.conftest import Auth, StartBoth, free_socket, serving
from tests.auth.machine import desk, with_machines
from tests.auth.test_people import desk_of
from tests.browser import IN_BROWSER

__all__ = ["auth", "start_auth", "start_both"]
pytestmark = IN_BROWSER


@pytest_asyncio.fixture(loop_scope="session")
async def context(chromium: Browser) -> AsyncIterator[BrowserContext]:
    """A fresh profile, whose pages may not log an error (a blocked script or style would)."""
    errors: list[str] = []
    made = await chromium.new_context()
    made.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    made.on("weberror", lambda error: errors.append(str(error.error)))
    yield made
    await made.close()
    assert errors == []


async def choose_ada(page: Page) -> None:
    """At the sign-in page: the one button, then Ada at the provider."""
    await page.get_by_role("link", name="Sign in with").click()
    await page.get_by_role("button", name="Ada Lovelace").click()
    await page.wait_for_url("**/auth/tokens")


async def arrival(page: Page, auth: Auth, link: str | None = None) -> str:
    """Sign in on the way to /auth/tokens; gives the Sec-Fetch-Site of the last step."""
    last: list[Request] = []
    page.on("request", lambda request: last.append(request) if "/tokens" in request.url else None)
    if link is None:
        await page.goto(f"{auth.url}/auth/sign-in?return_to=/auth/tokens")
    else:
        await page.goto(link)
        await page.get_by_role("link", name="come in").click()
    await choose_ada(page)
    return (await last[-1].all_headers())["sec-fetch-site"]


async def test_who_came_on_their_own_arrives_as_from_our_own_page(
    context: BrowserContext, auth: Auth
) -> None:
    page = await context.new_page()
    assert await arrival(page, auth) == "same-origin"
    assert await page.get_by_role("heading", name="Access tokens").is_visible()


async def test_who_followed_a_strangers_link_arrives_as_from_another_site(
    context: BrowserContext, auth: Auth
) -> None:
    """So that the page they wanted asks before it opens anything."""

    async def lure(_: web.Request) -> web.Response:
        target = f"{auth.url}/auth/sign-in?return_to=/auth/tokens"
        icon = '<link rel="icon" href="data:,">'
        return web.Response(text=f'{icon}<a href="{target}">come in</a>', content_type="text/html")

    app = web.Application()
    app.router.add_get("/", lure)
    sock, port = free_socket()
    async with serving(app, sock):
        page = await context.new_page()
        # the provider is on this machine too, which makes the two sites one; never one origin
        found = await arrival(page, auth, f"http://localhost:{port}/")
        assert found in {"cross-site", "same-site"}


async def test_the_browser_keeps_the_cookies_and_shows_them_to_no_script(
    context: BrowserContext, auth: Auth
) -> None:
    page = await context.new_page()
    await page.goto(f"{auth.url}/auth/sign-in?return_to=/auth/tokens")
    await choose_ada(page)
    kept = {cookie["name"]: cookie for cookie in await context.cookies(auth.url)}
    assert kept.keys() == {SESSION_COOKIE, SIGN_IN_COOKIE}
    for cookie in kept.values():
        assert cookie["secure"] is True
        assert cookie["httpOnly"] is True
        assert cookie["sameSite"] == "Lax"
    assert await page.evaluate("document.cookie") == ""


async def test_a_token_is_made_copied_and_revoked_with_the_keyboard_alone(
    context: BrowserContext, auth: Auth
) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"], origin=auth.url)
    page = await context.new_page()
    await page.goto(f"{auth.url}/auth/sign-in?return_to=/auth/tokens")
    await choose_ada(page)
    await page.get_by_label("Name").press_sequentially("Laptop")
    await page.get_by_label("Toys").press("Space")
    await page.get_by_role("button", name="Create token").press("Enter")
    await page.get_by_role("heading", name="Your new token").wait_for()
    text = await page.locator("#new-token").inner_text()
    assert text.startswith("strad_pat_")
    copy = page.get_by_role("button", name="Copy").first
    await copy.press("Enter")
    await page.get_by_role("button", name="Copied").wait_for()
    await page.get_by_role("link", name="I have copied it").press("Enter")
    assert text not in await page.content()
    await page.get_by_role("button", name="Revoke Laptop").press("Enter")
    await page.get_by_text("The token is revoked").wait_for()
    assert "Laptop" not in await page.get_by_role("main").inner_text()


async def test_signing_out_from_the_menu_leads_back_to_the_door(
    context: BrowserContext, auth: Auth
) -> None:
    page = await context.new_page()
    await page.goto(f"{auth.url}/auth/sign-in?return_to=/auth/tokens")
    await choose_ada(page)
    await page.get_by_role("button", name="Account of Ada Lovelace").click()
    await page.get_by_role("button", name="Sign out").click()
    await page.get_by_role("heading", name="You are signed out").wait_for()
    await page.go_back()
    await page.reload()
    assert await page.get_by_role("link", name="Sign in with").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
async def test_no_page_is_wider_than_its_window(
    chromium: Browser, auth: Auth, scheme: str, width: int
) -> None:
    context = await chromium.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 800},
    )
    page = await context.new_page()
    wide = "document.documentElement.scrollWidth > innerWidth"
    for path in (
        "/auth/sign-in?return_to=/apps/" + "x" * 300,
        "/auth/callback",
        "/auth/signed-out",
    ):
        await page.goto(auth.url + path)
        assert not await page.evaluate(wide), path
    await page.goto(f"{auth.url}/auth/sign-in?return_to=/auth/tokens")
    await choose_ada(page)
    await page.get_by_label("Name").fill("W" * 60)
    await page.get_by_role("button", name="Create token").click()
    await page.get_by_role("heading", name="Your new token").wait_for()
    assert not await page.evaluate(wide)
    await page.get_by_role("link", name="I have copied it").click()
    assert not await page.evaluate(wide)
    await page.get_by_role("button", name="Account of Ada Lovelace").click()
    await page.get_by_role("link", name="Sessions").click()
    await page.get_by_text("This browser").wait_for()
    assert not await page.evaluate(wide)
    await context.close()


async def by_operator(auth: Auth) -> str:
    """The address of a link to Ada's sessions."""
    return (await links.make(desk_of(auth), "ada@strad.test", "/auth/sessions")).split("\n")[0]


async def by_machine(auth: Auth) -> str:
    """The same, by a service."""
    made = await desk(auth).link(to="/auth/sessions")
    return str(made.body["link"])


@pytest.mark.parametrize("made", [by_operator, by_machine])
async def test_the_token_of_a_sign_in_link_stays_nowhere_in_the_browser(
    context: BrowserContext, start_both: StartBoth, made: Callable[[Auth], Awaitable[str]]
) -> None:
    auth = await with_machines(start_both)
    await auth.signed_in()
    address = await made(auth)
    token = address.partition("token=")[2]
    page = await context.new_page()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.headers.get("referer", "")))
    await page.goto(address)
    assert page.url == f"{auth.url}/auth/link"
    await page.get_by_role("button", name="Sign in as Ada Lovelace").click()
    await page.get_by_text("You can look, but not change anything here").wait_for()
    assert page.url == f"{auth.url}/auth/sessions"
    await page.go_back()
    assert token not in page.url
    assert token not in await page.evaluate("document.referrer + document.cookie")
    assert len(sent) > 2
    assert not any(token in referrer for referrer in sent)
    session = await context.new_cdp_session(page)
    history = [one["url"] for one in (await session.send("Page.getNavigationHistory"))["entries"]]
    assert f"{auth.url}/auth/link" in history
    assert not any(token in url for url in history)
