"""The toy catalogue's page in a real browser: what it shows, what it asks, what it drops."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from demo.catalog.answers import catalog, hold
from demo.catalog.identity import Caller
from demo.catalog.server import PAGE
from demo.catalog.shop import Shop
from tests.browser import IN_BROWSER
from tests.demo.page_bed import Call, Host, Shown, note, show

pytestmark = IN_BROWSER

ADA = Caller("person-1", "ada@strad.test")
CHARLES = Caller("person-2", "charles@strad.test")


def shop_for(caller: Caller | None) -> Call:
    """The real shop, called without a network."""
    shop = Shop(lambda: 1_800_000_000.0)

    async def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == "set_aside":
            result = hold(shop, caller, arguments["toy"])
        else:
            result = catalog(shop, caller, arguments.get("query", ""))
        return {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True)}

    return call


Open = Callable[..., Awaitable[Shown]]


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(chromium: Browser) -> AsyncIterator[Open]:
    opened: list[Shown] = []

    async def start(host: Host, query: str = "") -> Shown:
        opened.append(await show(chromium, PAGE.read_text(encoding="utf-8"), host, query=query))
        return opened[-1]

    yield start
    for shown in opened:
        await shown.page.close()
        await shown.server.close()


def failing(message: str) -> Call:
    async def call(_name: str, _arguments: dict[str, Any]) -> dict[str, Any]:
        return {"error": {"code": -32000, "message": message}}

    return call


async def test_it_shows_the_opening_result_in_the_accounts_language(open_page: Open) -> None:
    host = Host(shop_for(ADA), opening="show_catalog", context={"locale": "en-GB"})
    shown = await open_page(host)
    await expect(shown.frame.locator(".toy")).to_have_count(12)
    await expect(shown.frame.get_by_role("heading", name="Das Spielzeugregal")).to_be_visible()
    await expect(shown.frame.locator("html")).to_have_attribute("lang", "de-DE")
    await expect(shown.frame.locator("#count")).to_have_text("12 Spielsachen")
    await expect(shown.frame.locator(".price").first).to_have_text("34,90\u00a0€")


async def test_it_asks_the_network_for_nothing(open_page: Open) -> None:
    shown = await open_page(Host(shop_for(ADA), opening="show_catalog"))
    await expect(shown.frame.locator(".toy")).to_have_count(12)
    assert {urlsplit(url).path for url in shown.asked} <= {"/", "/frame", "/favicon.ico"}


async def test_a_failed_refresh_clears_what_was_shown_and_can_be_retried(open_page: Open) -> None:
    host = Host(shop_for(CHARLES), opening="show_catalog")
    shown = await open_page(host)
    await expect(shown.frame.locator(".toy")).to_have_count(12)
    host.call = failing("the server is down")
    await shown.frame.get_by_role("button", name="Refresh").click()
    alert = shown.frame.get_by_role("alert")
    await expect(alert).to_contain_text("could not be fetched. the server is down")
    await expect(shown.frame.locator(".toy")).to_have_count(0)
    assert "Tin rocket" not in await shown.frame.locator("body").inner_text()
    host.call = shop_for(CHARLES)
    await alert.get_by_role("button", name="Try again").click()
    await expect(shown.frame.locator(".toy")).to_have_count(12)


async def test_a_late_answer_is_dropped(open_page: Open) -> None:
    answers, release = shop_for(CHARLES), asyncio.Event()

    async def slow_for_everything(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == "list_toys" and not arguments:
            await release.wait()
        return await answers(name, arguments)

    host = Host(slow_for_everything, opening="show_catalog")
    shown = await open_page(host)
    await expect(shown.frame.locator(".toy")).to_have_count(12)
    await shown.frame.get_by_role("button", name="Refresh").click()
    await expect(shown.frame.locator("main")).to_have_attribute("aria-busy", "true")
    await expect(shown.frame.locator("[data-toy]")).to_have_count(0)
    await shown.frame.get_by_role("searchbox").fill("drum")
    await expect(shown.frame.locator("[data-toy]")).to_have_count(1)
    release.set()
    await shown.page.wait_for_timeout(300)
    await expect(shown.frame.locator("[data-toy]")).to_have_count(1)


def toy(**changes: Any) -> dict[str, Any]:
    right = {"id": "t", "art": "top", "name": "Top", "description": "It spins", "price": "€1"}
    return right | {"added": "today", "left": 1, "heldUntil": None} | changes


def answered(content: Any, **more: Any) -> Call:
    async def call(_name: str, _arguments: dict[str, Any]) -> dict[str, Any]:
        return {"result": {"content": [], "structuredContent": content, **more}}

    return call


MALFORMED: list[Any] = [
    {},
    {"locale": "en-US", "query": ""},
    {"locale": "en-US", "query": "", "toys": {}},
    {"locale": "en-US", "query": "", "toys": [None]},
    {"locale": "en-US", "query": "", "toys": [toy(name=7)]},
    {"locale": "en-US", "query": "", "toys": [toy(), toy(left="many")]},
    {"locale": "en-US", "query": "", "toys": [toy(heldUntil=1)]},
    {"locale": "en-US", "query": "", "toys": [toy(description="x" * 2001)]},
    {"locale": "<b>", "query": "", "toys": [toy()]},
    {"query": "", "toys": [toy()]},
]


async def test_a_malformed_answer_draws_nothing(open_page: Open) -> None:
    host = Host(shop_for(CHARLES), opening="show_catalog")
    shown = await open_page(host)
    for content in MALFORMED:
        host.call = shop_for(CHARLES)
        await shown.frame.get_by_role("button", name="Refresh").click()
        await expect(shown.frame.locator("[data-toy]")).to_have_count(12)
        host.call = answered(content)
        await shown.frame.get_by_role("button", name="Refresh").click()
        await expect(shown.frame.get_by_role("alert")).to_contain_text("does not understand")
        await expect(shown.frame.locator(".toy")).to_have_count(0)


async def test_markup_from_the_server_stays_text(open_page: Open) -> None:
    evil = "<img src=x onerror=document.title='pwned'>"
    content = {"locale": "xx", "query": "", "toys": [toy(name=evil, description=evil, art=evil)]}
    shown = await open_page(Host(answered(content), opening="show_catalog"))
    await expect(shown.frame.get_by_role("heading", name=evil)).to_be_visible()
    await expect(shown.frame.locator("main img")).to_have_count(0)
    assert await shown.frame.title() == "Toy catalogue"


async def test_nothing_found_says_so_and_shows_everything_again(open_page: Open) -> None:
    host = Host(shop_for(CHARLES), opening="show_catalog")
    shown = await open_page(host)
    await shown.frame.get_by_role("searchbox").fill("zeppelin")
    await expect(shown.frame.locator("main")).to_contain_text("matches “zeppelin”")
    await shown.frame.get_by_role("button", name="Show everything").click()
    await expect(shown.frame.locator("[data-toy]")).to_have_count(12)
    assert host.notes("x-strad/search") == [{"search": "?q=zeppelin"}, {"search": ""}]


async def test_a_shared_link_opens_with_its_search(open_page: Open) -> None:
    host = Host(shop_for(CHARLES), opening="show_catalog")
    shown = await open_page(host, query="?uri=ui%3A%2F%2Fx&q=bear")
    await expect(shown.frame.locator("[data-toy]")).to_have_count(1)
    await expect(shown.frame.get_by_role("searchbox")).to_have_value("bear")
    assert host.notes("x-strad/search") == []


async def test_setting_aside_shows_until_when_and_counts_down(open_page: Open) -> None:
    shown = await open_page(Host(shop_for(CHARLES), opening="show_catalog"))
    await shown.frame.get_by_role("button", name="Set aside: Parade drum").click()
    card = shown.frame.locator("[data-toy=parade-drum]")
    await expect(card).to_contain_text("Parade drum is set aside for you until 08:30 UTC.")
    await expect(card.locator(".stock")).to_have_text("All set aside")
    await expect(card.get_by_role("button")).to_be_disabled()


async def test_a_refusal_of_the_host_or_of_the_shop_stands_beside_its_button(
    open_page: Open,
) -> None:
    host = Host(shop_for(None), opening="show_catalog")
    shown = await open_page(host)
    button = shown.frame.get_by_role("button", name="Set aside: Tin rocket")
    said = shown.frame.locator("[data-toy=tin-rocket] .said")
    await button.click()
    await expect(said).to_contain_text("does not know who you are")
    host.call = failing("This tool writes, and needs your confirmation.")
    await button.click()
    await expect(said).to_contain_text("Not allowed here: This tool writes")
    await expect(button).to_be_enabled()
    await expect(shown.frame.locator("[data-toy]")).to_have_count(12)


async def test_arrow_keys_of_the_frame_and_of_the_host_move_the_selection(open_page: Open) -> None:
    shown = await open_page(Host(shop_for(CHARLES), opening="show_catalog"))
    await expect(shown.frame.locator("[data-toy]")).to_have_count(12)
    selected = shown.frame.locator(".selected")
    await shown.send(note("x-strad/key", key="ArrowRight"))
    await expect(selected).to_have_attribute("data-toy", "tin-rocket")
    await shown.send(note("x-strad/key", key="ArrowRight"))
    await expect(selected).to_have_attribute("data-toy", "parade-drum")
    await shown.page.keyboard.press("ArrowLeft")
    await expect(selected).to_have_attribute("data-toy", "tin-rocket")
    await shown.send(note("x-strad/key", key="__proto__"))
    await expect(selected).to_have_count(1)


async def test_the_hosts_theme_is_worn_and_a_new_locale_asks_again(open_page: Open) -> None:
    host = Host(shop_for(CHARLES), opening="show_catalog", context={"theme": "dark"})
    shown = await open_page(host)
    root = shown.frame.locator("html")
    await expect(root).to_have_attribute("data-theme", "dark")
    await expect(shown.frame.locator("[data-toy]")).to_have_count(12)
    await shown.send(note("ui/notifications/host-context-changed", theme="light"))
    await expect(root).to_have_attribute("data-theme", "light")
    assert len(host.notes("tools/call")) == 0
    await shown.send(note("ui/notifications/host-context-changed", locale="fr-FR"))
    async with asyncio.timeout(10):
        while not host.notes("tools/call"):
            await asyncio.sleep(0.02)
    await expect(shown.frame.locator("[data-toy]")).to_have_count(12)
    assert [call["name"] for call in host.notes("tools/call")] == ["list_toys"]


async def test_teardown_leaves_nothing_on_the_page(open_page: Open) -> None:
    shown = await open_page(Host(shop_for(CHARLES), opening="show_catalog"))
    await expect(shown.frame.locator(".toy")).to_have_count(12)
    await shown.send({"jsonrpc": "2.0", "id": "h1", "method": "ui/resource-teardown", "params": {}})
    await expect(shown.frame.locator(".toy")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
async def test_the_page_never_scrolls_sideways(open_page: Open, width: int) -> None:
    shown = await open_page(Host(shop_for(ADA), opening="show_catalog"))
    await shown.page.set_viewport_size({"width": width, "height": 800})
    await expect(shown.frame.locator(".toy")).to_have_count(12)
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert await shown.frame.evaluate(overflow) <= 0
