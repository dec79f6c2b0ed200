"""A server whose page is the probe and whose tool `go` is at work for as long as a test wants."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from playwright.async_api import Browser, Frame

from tests.apphost.pair import Pair, pair
from tests.browser.people import Person
from tests.browser.probe import PROBE
from tests.relay.test_progress import Work, WorkingLegacy, streaming
from tests.relay.upstreams import Fake, modern_fake

URI = "ui://toys/view.html"
TOOLS = [
    {"name": "show", "inputSchema": {"type": "object"}, "_meta": {"ui": {"resourceUri": URI}}},
    {"name": "go", "inputSchema": {"type": "object"}},
]


def _contents(html: str) -> dict[str, Any]:
    item = {"uri": URI, "mimeType": "text/html;profile=mcp-app", "text": html}
    more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
    return {"result": {"contents": [item]} | more}


class _Legacy(WorkingLegacy):
    def _reply(self, request: web.Request, message: dict[str, Any]) -> Any:
        match message.get("method"):
            case "tools/list":
                return {"result": {"tools": TOOLS}}
            case "resources/read":
                return _contents(PROBE)
            case _:
                return super()._reply(request, message)


def working(era: str, work: Work) -> Fake:
    """The server, in either era."""
    return _Legacy(work) if era == "legacy" else working_with(PROBE, work)


def working_with(html: str, work: Work) -> Fake:
    """The server with another page."""
    read = {"resources/read": lambda *_: _contents(html)}
    return modern_fake(TOOLS, streaming(work), **read)


@dataclass
class AtWork:
    """Ada looks at the page of a server that she reaches through apphost and relay."""

    pair: Pair
    person: Person
    frame: Frame


@asynccontextmanager
async def at_work(server: Fake, browser: Browser) -> AsyncIterator[AtWork]:
    """The page is open and has shaken hands. Its opening call waits for a press on Run."""
    async with server.served() as url, pair([{"slug": "a", "url": url, "timeout": 20}]) as p:
        person = await Person.at(browser, p.url)
        await person.take_session(p.cookie)
        await person.open("/apps/a")
        frame = await person.app()
        await frame.evaluate("globalThis.app ? connected : ready")
        yield AtWork(p, person, frame)
        await person.leave()
