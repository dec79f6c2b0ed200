"""The address bar and the tab's history, as a page may use them in Firefox."""

from tests.apphost.console import Console
from tests.browser.probe import hostile, ship
from tests.firefox import IN_FIREFOX
from tests.firefox.people import Person
from tests.firefox.probe import heard, note, probe

pytestmark = IN_FIREFOX

SEARCH, HASH = "x-strad/search", "x-strad/hash"


async def test_search_and_hash_stand_in_the_address_and_never_a_token(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor, "?view=week&uri=ui%3A%2F%2Ft%2Fpage&token=T#item-3")
    await heard(frame, 2)
    await note(frame, SEARCH, search="?q=a%20b&token=T&uri=ui://other")
    await note(frame, HASH, hash="#item-4")
    assert await visitor.tab.url() == (
        f"{visitor.url}/apps/toys?uri=ui%3A%2F%2Ft%2Fpage&q=a+b#item-4"
    )
    assert await visitor.tab.evaluate("history.length") == 1
    # the frame's own address stays what it was: nothing was loaded for it
    assert await frame.evaluate("location.hash") == "#item-3"
    await visitor.state("Ready")


async def test_back_and_forward_tell_the_page_and_load_nothing(
    console: Console, visitor: Person
) -> None:
    frame = await probe(console, visitor, "#first")
    await heard(frame, 2)
    await frame.point("viewport", 300, 300)
    await note(frame, HASH, hash="#second", push=True)
    assert await visitor.tab.evaluate("history.length") == 2
    await visitor.tab.go(-1)
    told = (await heard(frame, 3))[-1]
    assert told == {"jsonrpc": "2.0", "method": HASH, "params": {"hash": "#first"}}
    await visitor.tab.go(1)
    assert (await heard(frame, 4))[-1]["params"] == {"hash": "#second"}
    assert (await visitor.tab.url()).endswith("/apps/toys#second")
    assert len([one for one in visitor.asked if "/frame?" in one[1]]) == 1


async def test_a_page_cannot_flood_the_history_without_a_click(
    console: Console, visitor: Person
) -> None:
    ship(console, hostile("history_flood"))
    await visitor.open("/apps/toys")
    frame = await visitor.app()
    await frame.until("done", 15)
    await visitor.tab.until("location.hash === '#trap-120'")
    assert await visitor.tab.evaluate("history.length") == 1


async def test_one_click_lets_a_page_add_one_entry(console: Console, visitor: Person) -> None:
    frame = await probe(console, visitor)
    await heard(frame, 2)
    await frame.point("viewport", 300, 300)
    for step in range(30):
        await frame.evaluate(f"note('{HASH}', {{ hash: '#trap-{step}', push: true }})")
    await visitor.tab.until("location.hash === '#trap-29'")
    # half a second has to pass between two
    assert await visitor.tab.evaluate("history.length") <= 4


async def test_entries_that_the_frame_itself_pushes_do_not_move_the_host(
    console: Console, visitor: Person
) -> None:
    """In Chromium going back through them closes the page; Firefox fires no second `load`."""
    frame = await probe(console, visitor)
    await heard(frame, 2)
    await frame.evaluate("history.pushState(null, '', '#own')")
    await visitor.tab.go(-1)
    await frame.until("location.hash === ''")
    await visitor.state("Ready")
    assert await visitor.tab.url() == f"{visitor.url}/apps/toys"
