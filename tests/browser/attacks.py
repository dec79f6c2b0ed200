"""What the hostile pages in `hostile/` try, one attack a file, and how each has to end."""

from tests.apphost.console import Console
from tests.browser.people import Person
from tests.browser.probe import HOSTILE, hostile

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

# and "form", which the sandbox refuses
AWAY = ["location", "meta_refresh", "link", "open", "data"]
OUT = sorted(path.stem for path in HOSTILE.glob("out_by_*.html"))

# what a careless host lets through: each file reaches the sink by a way that bears its name
HEARD = {
    *("/location", "/meta-refresh", "/link", "/open-self", "/form", "/fetch", "/beacon"),
    "/websocket",
    *("a datagram", "/preload", "/css-link", "/css-import", "/css-font", "/css-background"),
    *("/ping", "/worker", "/worker-import", "/script", "/module", "/import", "/image", "/video"),
    *("/frame", "/object", "/embed", "/form-tab", "/popup ", "/spliced-image", "/spliced-fetch"),
}

# what `malformed_messages` is answered, by id: None is a result, and "last" shows that all is well
MALFORMED: dict[str | int, int | None] = {
    **dict.fromkeys(["last", 29, 32], None),
    **dict.fromkeys([1, 10, 11, 12, 13, 14, 15, 25], -32600),
    **dict.fromkeys([3, 16, 17, 18], -32601),
    **dict.fromkeys([19, 20, 21, 22, 23, 24, 30, 31], -32602),
}


def without_a_bridge(name: str, sink: str) -> str:
    """The page for a host that says nothing: what it waits for, it is told by itself."""
    word = "<script>dispatchEvent(new MessageEvent('message'))</script>"
    return hostile(name, sink) + (word if name.startswith("away_by") else "")


async def shows(
    console: Console, visitor: Person, name: str, query: str = "", *, sink: str = ""
) -> None:
    """The server of this test ships one hostile page; the visitor opens it."""
    console.toys.page(hostile(name, sink))
    console.toys.tool("show", "ui://t/page", annotations={"readOnlyHint": True})
    await visitor.open(f"/apps/toys{query}")
