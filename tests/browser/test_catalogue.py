"""The first journey: sign in, open the catalogue, see toys, refresh, sign out; and the other's."""

import json
import re
from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, expect

from tests.browser import IN_BROWSER
from tests.browser.people import Person
from tests.live import LiveStack

pytestmark = IN_BROWSER


@pytest_asyncio.fixture(loop_scope="session")
async def charles(stack: LiveStack, browser: Browser) -> AsyncIterator[Person]:
    """The person who may not use the demo servers."""
    person = await Person.at(browser, stack.url)
    await person.sign_in("Charles Babbage")
    yield person
    await person.leave()


async def test_the_catalogue_opens_from_the_home_page_and_shows_the_servers_toys(
    ada: Person,
) -> None:
    await ada.page.get_by_role("link", name="Toy catalogue").click()
    frame = await ada.app()
    await expect(frame.locator("#shelf > *").first).to_be_visible()
    await ada.state("Ready")
    assert [(call["name"], call["surface"]) for call in ada.calls] == [("show_catalog", "open")]
    # her account's language comes with the result, over the signed identity
    await expect(frame.locator("#shelf")).to_contain_text("€")
    assert ada.complaints == []


async def test_refresh_calls_list_toys_through_the_console(ada: Person) -> None:
    await ada.open("/apps/catalog")
    frame = await ada.app()
    await expect(frame.locator("#shelf > *").first).to_be_visible()
    await frame.locator("#query").fill("Drachen")
    async with ada.page.expect_response("**/apps/catalog/tools/call") as called:
        await frame.locator("#refresh").click()
    assert (await called.value).status == 200
    await expect(frame.locator("#shelf > *")).to_have_count(1)
    assert (ada.calls[-1]["name"], ada.calls[-1]["surface"]) == ("list_toys", "app")


async def test_sign_out_ends_the_open_app_at_its_next_call(ada: Person) -> None:
    await ada.open("/apps/catalog")
    frame = await ada.app()
    await expect(frame.locator("#shelf > *").first).to_be_visible()
    other = await ada.context.new_page()
    await other.goto(ada.url)
    await other.get_by_role("button", name=re.compile("Account")).click()
    await other.get_by_role("button", name="Sign out").click()
    await other.wait_for_load_state()
    await frame.locator("#refresh").click()
    await ada.closed("You are signed out")
    await ada.open("/apps/catalog")
    assert "/auth/sign-in" in ada.page.url


async def test_a_signed_out_link_leads_through_sign_in_to_the_app(
    stack: LiveStack, browser: Browser
) -> None:
    person = await Person.at(browser, stack.url)
    await person.open("/apps/catalog?view=x#item-3")
    await person.page.get_by_role("link", name=re.compile("Sign in")).click()
    await person.page.get_by_role("button", name=re.compile("Ada Lovelace")).click()
    await person.page.wait_for_url(f"{stack.url}/apps/catalog?view=x*")
    await person.app()
    await person.leave()


async def test_the_other_person_sees_no_such_server(charles: Person) -> None:
    assert await charles.page.get_by_role("link", name="Toy catalogue").count() == 0
    for path in ("/apps/catalog", "/apps/catalog/frame", "/apps/hostile", "/apps/nosuch"):
        response = await charles.page.goto(charles.url + path)
        assert response is not None
        assert response.status == 404
        assert "Toy" not in await charles.page.content()


async def test_the_other_persons_calls_are_404(charles: Person) -> None:
    body = {"name": "list_toys", "arguments": {}, "page": "ui://x/y", "surface": "app"}
    for slug in ("catalog", "nosuch"):
        response = await charles.context.request.post(
            f"{charles.url}/apps/{slug}/tools/call",
            data=json.dumps(body),
            headers={"Content-Type": "application/json", "Origin": charles.url},
        )
        assert response.status == 404
        assert (await response.json())["type"] == "urn:strad:problem:not-found"
