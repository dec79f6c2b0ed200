"""The published servers' pages in a real browser: listed, opened, run, drawn, and calling tools."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Frame, Page, Request, expect

from demo.run.settings import ROOT
from shared.contracts.wire import SESSION_COOKIE
from tests.live import LiveStack
from tests.real.published import SERVERS, Published

pytestmark = [
    pytest.mark.node,
    pytest.mark.stack,
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
]

SCREENSHOTS = ROOT / "artifacts" / "screenshots"
START_MS = 15_000
DRAW_SECONDS = 15.0
SHAKEN = ["ui/notifications/tool-input", "ui/notifications/tool-result"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:")

# in every frame before its own scripts: what reaches a page is what it was told
KEEP = "window.heard = []; addEventListener('message', ({ data }) => heard.push(data));"

# drawn, and drawn no differently than when this was asked before: nothing moves any more
STILL = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const before = canvas.before;
  canvas.before = canvas.toDataURL();
  return data.some(Boolean) && before === canvas.before;
}"""

# how many colours a picture has; a frame that drew nothing has one
COLOURS = """async (picture) => {
  const blob = new Blob([Uint8Array.from(atob(picture), (c) => c.charCodeAt(0))]);
  const bitmap = await createImageBitmap(blob);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  canvas.drawImage(bitmap, 0, 0);
  const { data } = canvas.getImageData(0, 0, bitmap.width, bitmap.height);
  return new Set(new Uint32Array(data.buffer)).size;
}"""
FEW_COLOURS = 5


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(browser: Browser, console: LiveStack, session: str) -> AsyncIterator[Page]:
    """Ada's browser; an exception in any page of it fails the test."""
    context = await browser.new_context(viewport={"width": 1180, "height": 820})
    context.set_default_timeout(START_MS)
    secure = console.url.replace("http:", "https:")
    cookie: Any = {"name": SESSION_COOKIE, "value": session, "url": secure, "secure": True}
    await context.add_cookies([cookie])
    await context.add_init_script(KEEP)
    page = await context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    yield page
    await context.close()
    assert thrown == []


class Calls:
    """The tool calls that a host page sends, as (surface, tool)."""

    def __init__(self, page: Page) -> None:
        self.seen: list[tuple[str, str]] = []
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if request.url.endswith("/tools/call"):
            body: dict[str, str] = request.post_data_json or {}
            self.seen.append((body["surface"], body["name"]))


async def press_run(page: Page) -> None:
    """The Run card is there; its button may be pressed after a moment."""
    button = page.get_by_role("button", name="Run", exact=True)
    await expect(button).to_be_enabled()
    await button.click()


async def framed(page: Page) -> Frame:
    """The frame with the server's page."""
    found = await (await page.locator("iframe").element_handle()).content_frame()
    assert found is not None
    return found


async def open_and_run(page: Page, address: str) -> Frame:
    """The page, and Run: no tool of these is marked as reading only."""
    await page.goto(address)
    await expect(page.locator("#state")).to_have_text("Waits for you", timeout=START_MS)
    await press_run(page)
    await expect(page.locator("#state")).to_have_text("Ready", timeout=START_MS)
    return await framed(page)


async def told(frame: Frame) -> list[str]:
    """The host's notifications about the opening call, in order."""
    found: list[str] = await frame.evaluate("heard.map(({ method }) => method)")
    return [method for method in found if (method or "").startswith("ui/notifications/tool-")]


async def colours(page: Page) -> int:
    """Of what the frame shows now."""
    picture = await page.locator("iframe").screenshot()
    blank = await page.context.new_page()
    try:
        count: int = await blank.evaluate(COLOURS, base64.b64encode(picture).decode())
        return count
    finally:
        await blank.close()


async def keep_picture(page: Page, name: str) -> None:
    """For people to look at, once the frame shows something."""
    async with asyncio.timeout(DRAW_SECONDS):
        while await colours(page) < FEW_COLOURS:
            await asyncio.sleep(0.2)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    await page.screenshot(path=SCREENSHOTS / f"published-{name}.png")


async def draw_server_time(frame: Frame) -> None:
    time = frame.get_by_text(TIME).last
    await expect(time).to_be_visible()
    first = await time.text_content()
    await frame.get_by_role("button", name="Get Server Time").click()
    await expect(time).not_to_have_text(first or "")
    await expect(time).to_have_text(TIME)


async def draw_time_in_vue(frame: Frame) -> None:
    # its button is left alone: Vue's proxy reads a property of the window above, which no page on
    # an origin of its own may do, and so its calls end in its own exception and never leave it
    await expect(frame.get_by_text(TIME)).to_be_visible()


async def draw_system_monitor(frame: Frame) -> None:
    await expect(frame.locator("#info-hostname")).not_to_have_text("--")
    # it polls by itself and shows when; a line needs two points, each the change between two polls
    shown_at = frame.locator("#status-text")
    for _ in range(3):
        before = await shown_at.text_content()
        await expect(shown_at).not_to_have_text(before or "", timeout=START_MS)
    await expect(frame.locator("#memory-percent")).to_have_text(re.compile(r"^\d+%$"))
    await frame.get_by_role("button", name="Stop").click()
    await expect_drawing(frame, "#cpu-chart")


async def draw_budget_allocator(frame: Frame) -> None:
    await expect(frame.locator("#status-bar")).to_have_text(re.compile(r"\$[1-9]"))
    await expect(frame.locator("#sliders-container input").first).to_be_visible()
    await expect_drawing(frame, "#budget-chart")


async def draw_cohort_heatmap(frame: Frame) -> None:
    await expect(frame.get_by_role("heading", name="Cohort Retention Analysis")).to_be_visible()
    await expect(frame.get_by_text("100", exact=False).first).to_be_visible()
    await frame.get_by_role("combobox").first.select_option("revenue")
    await expect(frame.get_by_text("Loading...")).to_have_count(0)


async def draw_customer_segmentation(frame: Frame) -> None:
    await expect(frame.locator("#legend")).to_contain_text("Enterprise")
    await expect_drawing(frame, "#scatter-chart")


async def draw_scenario_modeler(frame: Frame) -> None:
    await expect(frame.locator("body")).to_contain_text("Break-even:")
    await frame.get_by_role("combobox").select_option(index=1)
    await expect_drawing(frame, "canvas")


async def draw_shadertoy(frame: Frame) -> None:
    # its shader came with tool-input: a default of the input schema, which the Run card filled in
    await expect(frame.locator("#canvas")).to_be_visible()


async def draw_wiki_explorer(frame: Frame) -> None:
    # one circle, the page asked for: its server is offline and says so in the result
    await expect(frame.locator("#graph canvas")).to_be_visible()


async def draw_debug(frame: Frame) -> None:
    events = frame.locator("#event-log")
    for event in ("connected", "ontoolinput", "ontoolresult"):
        await expect(events).to_contain_text(event)
    await frame.locator("#display-fullscreen-btn").click()
    await expect(events).to_contain_text("onhostcontextchanged")
    await frame.locator("#display-inline-btn").click()


async def draw_threejs(frame: Frame) -> None:
    # scenes are text that it evaluates, and no page may do that here; it says why itself
    await expect(frame.locator("body")).to_contain_text("'unsafe-eval' is not an allowed source")


async def expect_drawing(frame: Frame, selector: str) -> None:
    """Something is drawn on a canvas, and its animation has come to an end."""
    canvas = frame.locator(selector)
    await expect(canvas).to_be_visible()
    async with asyncio.timeout(DRAW_SECONDS):
        while not await canvas.evaluate(STILL):
            await asyncio.sleep(0.2)


@dataclass(frozen=True)
class Shown:
    """What a page does when it works. `calls`: the tool that it calls itself, if any."""

    draw: Callable[[Frame], Awaitable[None]]
    calls: str | None = None


SHOWN = {
    "basic-vanillajs": Shown(draw_server_time, "get-time"),
    "basic-react": Shown(draw_server_time, "get-time"),
    "basic-vue": Shown(draw_time_in_vue),
    "basic-svelte": Shown(draw_server_time, "get-time"),
    "basic-solid": Shown(draw_server_time, "get-time"),
    "basic-preact": Shown(draw_server_time, "get-time"),
    "system-monitor": Shown(draw_system_monitor, "poll-system-stats"),
    "budget-allocator": Shown(draw_budget_allocator),
    "cohort-heatmap": Shown(draw_cohort_heatmap, "get-cohort-data"),
    "customer-segmentation": Shown(draw_customer_segmentation, "get-customer-data"),
    "scenario-modeler": Shown(draw_scenario_modeler),
    "shadertoy": Shown(draw_shadertoy),
    "threejs": Shown(draw_threejs),
    "wiki-explorer": Shown(draw_wiki_explorer),
    "debug": Shown(draw_debug, "debug-log"),
}


@pytest.mark.parametrize(
    "server",
    [server for server in SERVERS if server.slug in SHOWN],
    ids=lambda server: server.slug,
)
async def test_its_page_is_opened_run_and_drawn_and_calls_its_tool(
    server: Published, visitor: Page, console: LiveStack
) -> None:
    calls, shown = Calls(visitor), SHOWN[server.slug]
    frame = await open_and_run(visitor, f"{console.url}/apps/{server.slug}")
    await shown.draw(frame)
    assert await told(frame) == SHAKEN
    await keep_picture(visitor, server.slug)
    assert ("run", server.tool) in calls.seen
    own = {tool for surface, tool in calls.seen if surface == "app"}
    assert own == ({shown.calls} if shown.calls else set())


async def test_a_page_that_needs_the_network_is_not_left_blank(
    visitor: Page, console: LiveStack
) -> None:
    await visitor.goto(f"{console.url}/apps/map")
    notices = visitor.locator("#notices")
    await expect(notices).to_contain_text("This page has not started", timeout=START_MS)
    await expect(notices).to_contain_text("Blocked: script-src-elem https://cesium.com/")
    await expect(notices).to_contain_text(
        "declare https://cesium.com in _meta.ui.csp.resourceDomains"
    )
    await expect(visitor.locator("#state")).to_have_text("Silent")
    frame = await framed(visitor)
    await expect(frame.locator("#loading")).to_contain_text("Failed to load CesiumJS from CDN")
    await visitor.get_by_role("button", name="Run the tool for its text").click()
    await press_run(visitor)
    await expect(notices.locator("pre")).to_contain_text("Displaying globe at")
    await keep_picture(visitor, "map")
    assert await told(frame) == []


async def test_each_is_a_card_of_the_console_that_opens_its_page(
    visitor: Page, console: LiveStack
) -> None:
    await visitor.goto(console.url)
    for server in SERVERS:
        card = visitor.get_by_role("link", name=re.compile(server.name))
        await expect(card).to_have_attribute("href", re.compile(f"^/apps/{server.slug}"))
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    await visitor.screenshot(path=SCREENSHOTS / "published-home.png", full_page=True)
