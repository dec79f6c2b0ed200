"""The bridge belongs to the first document. Firefox refuses some second ones, and then the first
stays; it loads others, and then the page is closed."""

import asyncio

import pytest

from tests.apphost.console import Console
from tests.browser.attacks import AWAY
from tests.browser.probe import hostile, ship
from tests.browser.sink import Sink
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person

pytestmark = IN_FIREFOX

CLOSED = "The page tried to load another page"


@pytest.mark.parametrize(
    "name",
    ["own_route_by_location", "own_route_by_reload", "own_route_by_link", "written_document"],
)
async def test_a_second_document_ends_frame_and_bridge(
    console: Console, visitor: Person, name: str
) -> None:
    ship(console, hostile(name))
    await visitor.open("/apps/toys")
    await visitor.closed(CLOSED)
    assert console.relay.calls() == []
    assert await visitor.tab.url() == f"{visitor.url}/apps/toys"


# what a hostile page may add, so that `load` comes late and its second document has time to speak
RELOADS = (
    """<!doctype html><title>reloads, and calls a tool from its second document</title><script>
  const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const second = performance.getEntriesByType("navigation")[0].type !== "navigate";
  for (let id = 1; second && id < 20; id += 1) {
    post({ id, method: "tools/call", params: { name: "second", arguments: {} } });
  }
  addEventListener("message", () => second || WAY, { once: true });
  post({ id: 0, method: "ui/initialize", params: {} });
</script>"""
    + "<svg></svg>" * 20_000
)


@pytest.mark.parametrize("way", ["location.reload()", "history.go(0)"])
async def test_a_page_that_reloads_itself_never_speaks_again(
    console: Console, visitor: Person, way: str
) -> None:
    """Firefox sends such a request as if the host had made it, so the server cannot refuse it."""
    ship(console, RELOADS.replace("WAY", way))
    await visitor.open("/apps/toys")
    await visitor.closed(CLOSED)
    await asyncio.sleep(0.3)
    reads = [one for one in console.relay.asked if one["method"] == "resources/read"]
    assert len(reads) == 2  # it was served: the second document did run
    assert console.relay.calls() == []


ELSEWHERE = ["console_page_in_itself", "blob_document"] + [f"away_by_{way}" for way in AWAY]


async def test_any_other_document_is_refused_and_the_first_stays(
    console: Console, visitor: Person, sink: Sink
) -> None:
    for name in (*ELSEWHERE, "away_by_form"):
        ship(console, hostile(name, sink.url))
        await visitor.open("/apps/toys")
        frame = await visitor.app()
        title = await frame.evaluate("document.title")
        await asyncio.sleep(0.5)
        assert await frame.evaluate("document.title") == title, name
        shown = (await visitor.tab.frames())[0]["url"]
        assert shown.startswith(f"{visitor.url}/apps/toys/frame?"), name
    assert console.relay.calls() == []
    assert sink.heard == []


async def test_a_child_frame_has_no_bridge(console: Console, visitor: Person) -> None:
    ship(console, hostile("forged_source"))
    await visitor.open("/apps/toys")
    await visitor.app()
    await asyncio.sleep(1)
    assert len((await visitor.tab.frames())[0]["children"]) == 1  # it is there, and spoke
    assert console.relay.calls() == []  # neither the forged call nor the opening call
    await visitor.state("Loading…")


@pytest.mark.parametrize("press", ["Reload", "F5"])
async def test_the_persons_own_reload_is_no_second_document(
    console: Console, visitor: Person, press: str
) -> None:
    ship(console)
    await visitor.open("/apps/toys?a=1#part")
    await visitor.state("Ready")
    first = (await visitor.app()).context
    if press == "F5":
        await visitor.tab.bidi.send("browsingContext.reload", context=visitor.tab.context)
    else:
        await visitor.tab.click("#reload")
    await visitor.tab.until("performance.getEntriesByType('navigation')[0].type === 'reload'")
    assert (await visitor.app()).context != first
    await visitor.state("Ready")
    assert len(console.relay.calls()) == 2
