"""Links and downloads of a page: the person sees what, and agrees."""

import base64
from pathlib import Path

from tests.apphost.console import Console
from tests.browser.probe import hostile, ship
from tests.browser.sink import Sink
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person
from tests.firefox.probe import heard, probe

pytestmark = IN_FIREFOX


async def test_a_plain_link_shows_its_address_and_opens_on_the_persons_press(
    console: Console, visitor: Person, sink: Sink
) -> None:
    frame = await probe(console, visitor, extra=f'<a id="out" href="{sink.url}/path?q=1">out</a>')
    await heard(frame, 2)
    await frame.click("#out")
    await visitor.tab.text("#link", f"{sink.url}/path?q=1")
    # (Firefox connects to a link's host as soon as a button goes down on it, and says nothing yet)
    assert set(sink.heard) <= {"a connection"}
    await visitor.tab.click("#link-open")
    there = await visitor.another_tab(1)
    await there.until(f"location.href === '{sink.url}/path?q=1'")
    assert await there.evaluate("[opener, document.referrer]") == [None, ""]
    assert await visitor.tab.evaluate("document.querySelector('#link').hidden")


async def test_no_address_opens_without_a_click_and_never_the_console(
    console: Console, visitor: Person
) -> None:
    ship(console, hostile("links_unasked"))
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await frame.until("answers.length === 16")
    messages = {a["id"]: a["error"]["message"] for a in await frame.evaluate("answers")}
    assert messages[0] == "This happens on a person's click only."
    for number in (*range(1, 11), 15):
        assert messages[number].startswith("Only whole http and https addresses")
    assert messages[11] == "An address with a user name in it is not opened."
    for number in (12, 13, 14):
        assert messages[number] == "A page cannot open the console."
    assert len(visitor.tabs) == 1
    assert await visitor.tab.evaluate("document.querySelector('#link').hidden")


async def test_a_file_is_saved_byte_for_byte_once_the_person_agrees(
    console: Console, visitor: Person, tmp_path: Path
) -> None:
    raw = bytes(range(256)) * 50
    held = {"uri": "toys://picture.png", "mimeType": "image/png"}
    blob = base64.b64encode(raw).decode()
    item = {"type": "resource", "resource": held | {"blob": blob}}
    frame = await probe(console, visitor)
    await heard(frame, 2)
    await visitor.saves_to(tmp_path)
    await frame.point("viewport", 300, 300)
    await frame.evaluate(f"void (window.asked = ask('ui/download-file', {{contents: [{item}]}}))")
    await visitor.tab.text("#link", "This page wants to save picture.png (0.01 MB)")
    assert list(tmp_path.iterdir()) == []
    await visitor.tab.click("#link-open")
    assert (await frame.evaluate("asked"))["result"] == {}
    await visitor.saved(1)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [("picture.png", raw)]
    assert visitor.errors == []
