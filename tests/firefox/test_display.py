"""What the official SDK takes from the host, and full screen, in Firefox."""

import pytest

from tests.apphost.console import Console
from tests.browser.probe import ship
from tests.browser.sdk import VERSIONS, Sdk
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person
from tests.firefox.probe import heard, probe

pytestmark = IN_FIREFOX


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_official_sdk_starts_and_hears_input_and_result(
    console: Console, visitor: Person, version: str
) -> None:
    ship(console, Sdk(version).html())
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    assert await frame.evaluate("connected") == "connected"
    await frame.until("told.length >= 2")
    assert [name for name, *_ in await frame.evaluate("told")] == ["toolinput", "toolresult"]
    await visitor.state("Ready")


async def test_a_page_gets_full_screen_on_a_click_only_and_the_bar_stays(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    ask = "ask('ui/request-display-mode', { mode: 'fullscreen' })"
    assert (await frame.evaluate(ask))["result"] == {"mode": "inline"}
    await frame.point("viewport", 300, 300)
    assert (await frame.evaluate(ask))["result"] == {"mode": "fullscreen"}
    assert await visitor.tab.evaluate("document.fullscreenElement.tagName") == "HTML"
    bar = await visitor.tab.evaluate(
        "(({ top, height }) => [top, height])"
        "(document.querySelector('.app-bar').getBoundingClientRect())"
    )
    assert bar[0] == 0
    assert bar[1] > 20
    told = (await heard(frame, 3))[2:]
    assert {"displayMode": "fullscreen"} in [one["params"] for one in told]
    await visitor.tab.click("#fullscreen")
    await visitor.tab.until("document.fullscreenElement === null")
    assert await frame.evaluate("ready.then(() => 1)") == 1  # the page was never loaded anew
