"""Sign in, open an app, use it, sign out: at the real stack."""

from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person

pytestmark = IN_FIREFOX

TOYS = "document.querySelector('#shelf > *') !== null"


async def test_the_catalogue_opens_from_the_home_page_and_its_page_calls_its_server(
    ada: Person,
) -> None:
    await ada.tab.click_on("Toy catalogue")
    frame = await ada.app()
    await frame.until(TOYS)
    await ada.state("Ready")
    called = ("POST", f"{ada.url}/apps/catalog/tools/call")
    assert ada.asked.count(called) == 1
    # her account's language comes with the result, over the signed identity
    await frame.text("#shelf", "€")
    await frame.click("#refresh")
    await frame.until(TOYS)
    assert ada.errors == []


async def test_sign_out_ends_the_open_app_and_nothing_comes_back_with_back(ada: Person) -> None:
    await ada.open("/apps/catalog")
    frame = await ada.app()
    await frame.until(TOYS)
    other = await ada.new_tab()
    await other.goto(ada.url)
    await other.click(".person-button")
    await other.click_on("^\\s*Sign out\\s*$")
    await other.until("document.querySelector('[href*=sign-in], [href*=start]') !== null")
    await frame.click("#refresh")
    await ada.closed("You are signed out")
    await ada.open("/auth/sign-in")
    await ada.tab.go(-1)
    await ada.tab.until("location.pathname === '/auth/sign-in'")
    assert await ada.tab.frames() == []
