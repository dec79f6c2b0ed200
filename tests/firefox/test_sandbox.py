"""What a page reaches from Firefox's sandbox: nothing, but for what no policy closes there."""

import asyncio
from urllib.parse import quote

import pytest

from tests.apphost.console import Console
from tests.browser.attacks import GRABS
from tests.browser.careless import careless_host
from tests.browser.probe import hostile, ship
from tests.browser.sink import Sink
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person
from tests.firefox.tab import Place

pytestmark = IN_FIREFOX

AFTERMATH = 1.0  # seconds in which a late request would still arrive


@pytest.mark.parametrize("name", GRABS)
async def test_a_page_cannot_reach_the_consoles_windows_or_storage(
    console: Console, visitor: Person, name: str
) -> None:
    ship(console, hostile(name))
    await visitor.open("/apps/toys?token=SECRET&uri=ui%3A%2F%2Ft%2Fpage&a=1")
    frame = await visitor.app()
    assert await frame.evaluate("found") == GRABS[name]
    assert await frame.evaluate("origin") == "null"
    address = await frame.evaluate("location.href")
    assert address.endswith("/frame?uri=ui%3A%2F%2Ft%2Fpage&a=1")


async def finished(frame: Place) -> list[dict[str, str]]:
    """All attempts of the escape room have been made; how each ended."""
    await frame.until("document.documentElement.dataset.done === 'true'", 60)
    found: list[dict[str, str]] = await frame.evaluate("results")
    return found


async def test_every_attempt_of_the_hostile_page_is_refused(ada: Person, sink: Sink) -> None:
    await ada.open(f"/apps/hostile?sink={quote(sink.url, safe='')}")
    frame = await ada.app()
    results = await finished(frame)
    await asyncio.sleep(AFTERMATH)
    assert len(results) > 40
    assert [one for one in results if one["outcome"] == "ESCAPED"] == []
    # no request: what else there may be is the next test's
    assert [one for one in sink.heard if not one.startswith(("a connection", "a datagram"))] == []
    assert len(await ada.tab.frames()) == 1  # and the console still stands


async def test_without_our_policy_the_same_page_gets_out(visitor: Person, sink: Sink) -> None:
    """The positive control: the attempts are real, and the sink hears."""
    async with careless_host(sink.url) as address:
        await visitor.tab.goto(address)
        await finished(await visitor.app())
    for way in ("/fetch", "/image", "/script", "/iframe", "/stylesheet", "a datagram"):
        assert any(way in one for one in sink.heard), f"{way} not in {sink.heard}"


LEFT_OPEN = {
    "a connection": "document.head.append(Object.assign(document.createElement('link'),"
    " { rel: 'preconnect', href: SINK }))",
    "a datagram of 20 bytes": "(async () => { const peer = new RTCPeerConnection("
    "{ iceServers: [{ urls: SINK.replace('http://', 'stun:') }] });"
    " peer.createDataChannel('x'); await peer.setLocalDescription(); })()",
}


@pytest.mark.parametrize("leak", LEFT_OPEN)
async def test_firefox_leaves_preconnect_and_webrtc_to_a_page(
    console: Console, visitor: Person, sink: Sink, leak: str
) -> None:
    """A limit and no wish: it knows no `Connection-Allowlist`. When this fails, it has learnt it,
    and docs/known-limitations.md can say so."""
    code = LEFT_OPEN[leak].replace("SINK", f"'{sink.url}'")
    ship(console, f"<!doctype html><head></head><script>{code}</script>")
    await visitor.open("/apps/toys")
    await visitor.app()
    async with asyncio.timeout(10):
        while leak not in sink.heard:
            await asyncio.sleep(0.05)
    assert set(sink.heard) == {leak}


QUIET = {
    "a preload": "document.head.innerHTML = '<link rel=preload as=script href=\"SINK/x\">'",
    "a form": 'document.body.innerHTML = \'<form action="SINK/x" target="_blank">\';'
    " document.querySelector('form').submit()",
    "a frame in it": "document.body.innerHTML = '<iframe src=\"SINK/x\">'",
    "a style": 'document.head.innerHTML = \'<style>@import "SINK/x";'
    " body { background: url(SINK/y) }</style>'",
    "location": "location.href = 'SINK/x'",
    "meta refresh": "document.head.innerHTML ="
    ' \'<meta http-equiv="refresh" content="0;url=SINK/x">\'',
}


async def test_no_other_way_out_makes_even_a_connection(
    console: Console, visitor: Person, sink: Sink
) -> None:
    for way, code in QUIET.items():
        body = code.replace("SINK", sink.url)
        ship(console, f"<!doctype html><head></head><body><script>{body}</script>")
        await visitor.open("/apps/toys")
        await visitor.app()
        await asyncio.sleep(0.3)
        assert sink.heard == [], way
    await asyncio.sleep(AFTERMATH)
    assert sink.heard == []


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
