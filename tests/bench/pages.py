"""What it costs to open a page in the console, against the same page from a static server.

Two things: the server's time for the host page and for the frame, and in a browser the time from
the navigation to the tool's result inside the page.
"""

import asyncio
import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from aiohttp import ClientSession, DummyCookieJar
from playwright.async_api import Page, async_playwright
from yarl import URL

from demo.catalog.server import PAGE_URI
from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers
from shared.contracts.wire import SESSION_COOKIE
from tests.bench.caller import CallFailed, Times
from tests.live import LiveStack
from tests.peers.process import running

APP = "/apps/catalog"
WAYS = ("static", "strad")
TOOL = "show_catalog"
_BARE = Path(__file__).parent / "bare_host.html"
_HOST = {"Sec_Fetch_Site": "none", "Sec_Fetch_Dest": "document"}
_FRAME = {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Dest": "iframe"}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_WARM = 3
_RESULT_SECONDS = 20.0

# in every frame, before its own scripts: when the result came, on a clock that frames share
_NOTE = """addEventListener("message", ({ data }) => {
  if (data?.method !== "ui/notifications/tool-result") return;
  resultCame(performance.timeOrigin + performance.now());
});"""


class NoBrowser(Exception):
    """Neither Chromium nor Chrome is on the PATH."""


@dataclass(frozen=True)
class Pages:
    """Both ways, ready. `addresses` by part and way; `headers` by part: of a browser."""

    addresses: dict[tuple[str, str], str]
    headers: dict[str, dict[str, str]]
    session: str


@contextmanager
def pages(folder: Path, strad: LiveStack) -> Iterator[Pages]:
    """The demo's stack, and a static server with what it answered; files go into `folder`."""
    ada = strad.visitor("ada")
    frame = f"{APP}/frame?{urlencode({'uri': PAGE_URI})}"
    call = {"name": TOOL, "arguments": {}, "page": PAGE_URI, "surface": "open"}
    result = ada.post_json(f"{APP}/tools/call", call).json()["result"]
    (folder / "page").write_bytes(_BARE.read_bytes())
    (folder / "frame").write_bytes(ada.get(frame, **_FRAME).body)
    (folder / "result").write_text(json.dumps(result))
    (port,) = free_ports(1)
    command = [sys.executable, "-m", "tests.bench.bare_host", str(port), str(folder)]
    log = folder / "bare-host.log"
    bare, session = f"http://{LOOPBACK}:{port}", ada.cookie(SESSION_COOKIE) or ""
    sent = {"Cookie": f"{SESSION_COOKIE}={session}"}
    with running(command, log, answers(port, "/page"), {}):
        yield Pages(
            addresses={
                ("host page", "static"): f"{bare}/page",
                ("host page", "strad"): strad.url + APP,
                ("frame", "static"): f"{bare}/frame",
                ("frame", "strad"): strad.url + frame,
            },
            headers={"host page": sent | _named(_HOST), "frame": sent | _named(_FRAME)},
            session=session,
        )


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


async def served(found: Pages, requests: int) -> dict[tuple[str, str], Times]:
    """Server times by part and way. One caller, one connection, the ways in turn."""
    each: dict[tuple[str, str], list[float]] = {cell: [] for cell in found.addresses}
    async with ClientSession(cookie_jar=DummyCookieJar()) as http:
        for number in range(_WARM + requests):
            for (part, way), url in found.addresses.items():
                seconds = await _get(http, URL(url, encoded=True), found.headers[part])
                if number >= _WARM:
                    each[part, way].append(seconds)
    return {cell: Times(tuple(sorted(times)), sum(times)) for cell, times in each.items()}


async def _get(http: ClientSession, url: URL, headers: dict[str, str]) -> float:
    started = time.perf_counter()
    async with http.get(url, headers=headers, allow_redirects=False) as answer:
        text = await answer.read()
        if answer.status != 200:
            raise CallFailed(f"{url}: {answer.status} {text[:500]!r}")
    return time.perf_counter() - started


async def shown(found: Pages, openings: int) -> dict[str, Times]:
    """By way: seconds from the navigation to the tool's result inside the page, in Chromium.

    One profile whose cache is warm, the ways in turn. Raises `NoBrowser`.
    """
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        raise NoBrowser(f"The page part needs one of {', '.join(_BROWSERS)} on the PATH.")
    each: dict[str, list[float]] = {way: [] for way in WAYS}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path)
        context = await browser.new_context()
        came: asyncio.Queue[float] = asyncio.Queue()
        await context.expose_function("resultCame", came.put_nowait)
        await context.add_init_script(_NOTE)
        await context.add_cookies([_cookie(found)])
        page = await context.new_page()
        for number in range(_WARM + openings):
            for way in WAYS:
                seconds = await _open(page, found.addresses["host page", way], came)
                if number >= _WARM:
                    each[way].append(seconds)
        await browser.close()
    return {way: Times(tuple(sorted(times)), sum(times)) for way, times in each.items()}


def _cookie(found: Pages) -> Any:
    # a `__Host-` cookie is Secure; a browser keeps it for http on this machine all the same
    url = found.addresses["host page", "strad"].removesuffix(APP).replace("http:", "https:")
    return {"name": SESSION_COOKIE, "value": found.session, "url": url, "secure": True}


async def _open(page: Page, url: str, came: asyncio.Queue[float]) -> float:
    await page.goto(url)
    async with asyncio.timeout(_RESULT_SECONDS):
        at = await came.get()
    began: float = await page.evaluate("performance.timeOrigin")
    return (at - began) / 1000
