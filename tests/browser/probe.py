"""A server whose page keeps every message it hears and asks what a test tells it to."""

import asyncio
import json
from pathlib import Path
from typing import Any

from playwright.async_api import Frame

from tests.apphost.console import Console
from tests.browser.people import Person, until

HOSTILE = Path(__file__).parent / "hostile"
PROBE = (Path(__file__).parent / "probe.html").read_text()
RESULT = {
    "content": [{"type": "text", "text": "three toys"}],
    "structuredContent": {"toys": [1, 2, 3]},
    "_meta": {"x/y": {"kept": True}},
    "unknown": "kept too",
}
SCHEMA = {
    "type": "object",
    "properties": {
        "shelf": {"type": "string", "default": "north", "description": "Which <b>shelf</b>."},
        "count": {"type": "integer", "default": 3},
        "gift": {"type": "boolean"},
        "size": {"enum": ["small", "large"]},
        "more": {"type": "object"},
        "__proto__": {"type": "string", "default": "only a name"},
    },
    "required": ["shelf"],
}


def ship(console: Console, html: str = PROBE, **tool: Any) -> None:
    """The server ships a page; its tool `show` reads only, unless `tool` says otherwise."""
    console.toys.page(html)
    told = {"annotations": {"readOnlyHint": True}, "inputSchema": SCHEMA} | tool
    console.toys.tool("show", "ui://t/page", **told)
    console.toys.on_call = lambda _: RESULT


def hostile(name: str, sink: str = "") -> str:
    """A page that tries one thing that it must not do. `sink`: the address it tries to reach."""
    return (HOSTILE / f"{name}.html").read_text().replace("SINK", sink)


async def probe(
    console: Console, person: Person, query: str = "", *, extra: str = "", **tool: Any
) -> Frame:
    """The person opens the probe.

    `extra`: markup at its end, for what it must do of its own accord.
    """
    ship(console, PROBE + extra, **tool)
    await person.open(f"/apps/toys{query}")
    return await person.app()


_NOTIFICATIONS = "heard.filter(({ method }) => method)"


async def opened(frame: Frame) -> None:
    """The page has heard of its opening call: input and result."""
    await until(frame, f"{_NOTIFICATIONS}.length >= 2")


async def heard(frame: Frame, count: int) -> list[Any]:
    """The notifications that the page has heard, at least so many, and then no more."""
    await until(frame, f"{_NOTIFICATIONS}.length >= {count}")
    await asyncio.sleep(0.3)
    # as text: Playwright's own way back would lose a key named __proto__
    found: list[Any] = json.loads(await frame.evaluate(f"JSON.stringify({_NOTIFICATIONS})"))
    return found
