"""The escape room in a real browser: loud when nothing holds it, refused when something does."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser

from demo.hostile.page import room
from tests.browser import IN_BROWSER
from tests.demo.page_bed import STRICT, Host, show

pytestmark = IN_BROWSER

# What the page can see with its own eyes when nothing protects the host.
OPEN_DOORS = {
    *("origin", "cookie", "local-storage", "session-storage", "parent-document", "frame-element"),
    *("host-address", "fetch", "xhr", "import", "script", "stylesheet", "image", "eval"),
    *("event-source", "model-only", "base"),
}


@dataclass
class Sink:
    """An outside address that lets everybody in and remembers who came."""

    url: str = ""
    paths: list[str] = field(default_factory=list)

    async def welcome(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path)
        kinds = {
            "/stylesheet": "text/css",
            "/event-source": "text/event-stream",
            "/image": "image/svg+xml",
        }
        kind = kinds.get(request.path, "text/javascript")
        text = '<svg xmlns="http://www.w3.org/2000/svg"/>' if kind == "image/svg+xml" else ""
        open_to_all = {"Access-Control-Allow-Origin": "*"}
        return web.Response(text=text, content_type=kind, headers=open_to_all)


@pytest_asyncio.fixture(loop_scope="session")
async def sink() -> AsyncIterator[Sink]:
    made = Sink()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.welcome)
    server = TestServer(app)
    await server.start_server()
    made.url = str(server.make_url("")).rstrip("/")
    yield made
    await server.close()


async def obliging(_name: str, _arguments: dict[str, Any]) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": "anything you like"}]}}


async def refusing(_name: str, _arguments: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": -32000, "message": "not yours"}}


async def outcomes(
    browser: Browser, sink: Sink, host: Host, headers: dict[str, str] | None
) -> dict[str, str]:
    """Every attempt's outcome by its id, and that page, rows and count agree."""
    shown = await show(browser, room(), host, query=f"?sink={sink.url}", headers=headers)
    try:
        done = shown.frame.locator("html[data-done=true]")
        await done.wait_for(state="attached", timeout=60_000)
        results = await shown.frame.evaluate("window.results")
        rows = await shown.frame.evaluate(
            "[...document.querySelectorAll('[data-attempt]')]"
            ".map(({dataset}) => [dataset.attempt, dataset.outcome])"
        )
        escaped = await done.get_attribute("data-escaped")
    finally:
        await shown.page.close()
        await shown.server.close()
    found = {result["attempt"]: result["outcome"] for result in results}
    assert len(found) == len(results) > 90
    assert dict(rows) == found
    assert int(escaped or -1) == list(found.values()).count("ESCAPED")
    return found


async def test_under_a_strict_policy_nothing_escapes_and_the_sink_hears_nothing(
    chromium: Browser, sink: Sink
) -> None:
    found = await outcomes(chromium, sink, Host(refusing), STRICT)
    assert {attempt for attempt, outcome in found.items() if outcome == "ESCAPED"} == set()
    assert sink.paths == []
    assert all(found[attempt] == "refused" for attempt in OPEN_DOORS)


async def test_without_protection_the_same_attempts_escape(chromium: Browser, sink: Sink) -> None:
    found = await outcomes(chromium, sink, Host(obliging), None)
    escaped = {attempt for attempt, outcome in found.items() if outcome == "ESCAPED"}
    assert escaped >= OPEN_DOORS
    assert {"/fetch", "/script", "/image", "/beacon", "/iframe"} <= set(sink.paths)
