"""What a page reaches from Firefox's sandbox: nothing, but for what no policy closes there."""

import asyncio
import time
from contextlib import AsyncExitStack
from urllib.parse import quote

from tests.apphost.console import Console
from tests.browser.attacks import AWAY, GRABS, HEARD, OUT, without_a_bridge
from tests.browser.careless import careless
from tests.browser.probe import hostile, ship
from tests.browser.sink import Sink
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person
from tests.firefox.tab import Place

pytestmark = IN_FIREFOX

AFTERMATH = 0.7  # seconds in which a late request would still arrive


async def test_a_page_cannot_reach_the_consoles_windows_or_storage(
    console: Console, visitor: Person
) -> None:
    for name, found in GRABS.items():
        ship(console, hostile(name))
        await visitor.open("/apps/toys?token=SECRET&uri=ui%3A%2F%2Ft%2Fpage&a=1")
        frame = await visitor.app()
        assert await frame.evaluate("[found, origin]") == [found, "null"], name
        address = await frame.evaluate("location.href")
        assert address.endswith("/frame?uri=ui%3A%2F%2Ft%2Fpage&a=1")


async def test_every_attempt_of_the_hostile_page_is_refused(ada: Person, sink: Sink) -> None:
    await ada.open(f"/apps/hostile?sink={quote(sink.url, safe='')}")
    frame = await ada.app()
    await frame.until("document.documentElement.dataset.done === 'true'", 60)
    results = await frame.evaluate("results")
    await asyncio.sleep(AFTERMATH)
    assert len(results) > 40
    assert [one for one in results if one["outcome"] == "ESCAPED"] == []
    # no request: what else there may be is the next test's
    assert [one for one in sink.heard if not one.startswith(("a connection", "a datagram"))] == []
    assert len(await ada.tab.frames()) == 1  # and the console still stands


# A limit and no wish: Firefox knows no `Connection-Allowlist`. When less is heard it has learnt it,
# and docs/known-limitations.md can say so.
LEFT_OPEN = {"out_by_prefetch": {"a connection"}, "out_by_webrtc": {"a datagram of 20 bytes"}}


async def tried(frame: Place) -> None:
    """The page has done what it does, a person's click on it included."""
    await frame.until("globalThis.done")
    if await frame.evaluate("document.querySelector('#go') !== null"):
        await frame.click("#go")


async def test_firefox_leaves_preconnect_and_webrtc_to_a_page_and_nothing_else(
    console: Console, visitor: Person
) -> None:
    async with AsyncExitStack() as stack:
        sinks = {name: await stack.enter_async_context(Sink()) for name in OUT}
        for name, sink in sinks.items():
            ship(console, hostile(name, sink.url))
            await visitor.open("/apps/toys")
            await tried(await visitor.app())
            await asyncio.sleep(0.2)  # what it began would end with the page
        await asyncio.sleep(AFTERMATH)
        heard = {name: set(sink.heard) for name, sink in sinks.items() if sink.heard}
    assert heard == LEFT_OPEN
    assert console.relay.calls() == []
    assert len(visitor.tabs) == 1


async def test_without_our_policy_each_of_these_pages_gets_out(visitor: Person, sink: Sink) -> None:
    """The positive control: the attacks are real, and the sink hears."""
    names = [*(f"away_by_{name}" for name in [*AWAY, "form"]), *OUT]
    pages = {name: without_a_bridge(name, sink.url) for name in names}
    async with careless(pages) as address:
        await visitor.tab.goto(address, "complete")
        for one in await visitor.tab.frames():
            if "/out_by" in one["url"]:
                await tried(Place(visitor.bidi, one["context"]))
        ways = HEARD - {"/ping"}  # Firefox sends none
        end = time.monotonic() + 10
        while missing := {way for way in ways if way not in " ".join(sink.heard)}:
            assert time.monotonic() < end, missing
            await asyncio.sleep(0.1)


async def test_a_page_opens_nothing_by_itself_not_even_after_a_click(
    console: Console, visitor: Person, sink: Sink
) -> None:
    ship(
        console,
        "<!doctype html><title>opens</title><body style='height: 100vh'><script>"
        "const opened = [];"
        f"const to = (way) => '{sink.url}/' + way;"
        "addEventListener('click', (event) => {"
        "  if (!event.isTrusted) return event.stopImmediatePropagation();"
        "  const attempt = (target) => {"
        "    try { return window.open(to(target), target); } catch { return null; }"
        "  };"
        "  opened.push(attempt('_blank'), attempt('_top'), attempt('_parent'));"
        "  const link = Object.assign(document.createElement('a'), { href: to('link') });"
        "  document.body.append(link); link.click();"
        "  const form = Object.assign(document.createElement('form'), { action: to('form') });"
        "  form.target = '_blank'; document.body.append(form); form.submit();"
        "}, true);</script>",
    )
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await frame.point("viewport", 200, 200)
    await frame.until("opened.length === 3")
    assert await frame.evaluate("opened") == [None, None, None]
    await asyncio.sleep(AFTERMATH)
    assert sink.heard == []
    assert len(visitor.tabs) == 1
