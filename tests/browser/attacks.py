"""What the hostile pages in `hostile/` try, one attack a file, and how each has to end."""

from tests.apphost.console import Console
from tests.browser.people import Person
from tests.browser.probe import hostile

REFUSED = "refused: SecurityError"
# what each page makes of the console's windows and storage
GRABS = {
    "parent_document": REFUSED,
    "top_address": REFUSED,
    "top_navigation": REFUSED,
    "top_frames": REFUSED,
    "frame_element": "refused: TypeError",  # there is none to be seen
    "opener_window": "null",
    "cookie": REFUSED,
    "cookie_planted": REFUSED,
    "storage": REFUSED,
    "referrer": "",
}


async def shows(
    console: Console, visitor: Person, name: str, query: str = "", *, sink: str = ""
) -> None:
    """The server of this test ships one hostile page; the visitor opens it."""
    console.toys.page(hostile(name, sink))
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    await visitor.open(f"/apps/toys{query}")
