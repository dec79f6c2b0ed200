"""The published servers' pages in a real browser: listed, opened, run, drawn, and calling tools."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, FrameLocator, Page, Request, expect

from demo.run.settings import ROOT
from tests.live import LiveStack
from tests.real.published import SERVERS, Published

pytestmark = [pytest.mark.node, pytest.mark.stack, pytest.mark.browser]

SCREENSHOTS = ROOT / "artifacts" / "screenshots"
START_MS = 15_000

# drawn, and drawn no differently than when this was asked before: nothing moves any more
STILL = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const before = canvas.before;
  canvas.before = canvas.toDataURL();
  return data.some(Boolean) && before === canvas.before;
}"""
STILL_SECONDS = 15.0


@pytest.fixture
async def visitor(chromium: Browser, console: LiveStack) -> AsyncIterator[Page]:
    """Ada's browser, at the console's home; an exception in any page of it fails the test."""
    context = await chromium.new_context(viewport={"width": 1180, "height": 820})
    context.set_default_timeout(START_MS)
    page = await context.new_page()
    thrown: list[str] = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    await page.goto(console.url)
    await page.get_by_role("link", name=re.compile("^Sign in with")).click()
    await page.get_by_role("button", name=re.compile("Ada Lovelace")).click()
    await page.wait_for_url(f"{console.url}/")
    yield page
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


async def open_and_run(page: Page, console: LiveStack, server: Published) -> FrameLocator:
    """From the console's home to the page, and Run: no tool of these is marked as reading only."""
    await page.get_by_role("link", name=re.compile(server.name)).click()
    await expect(page.locator("#state")).to_have_text("Waits for you", timeout=START_MS)
    button = page.get_by_role("button", name="Run", exact=True)
    await expect(button).to_be_enabled()
    await button.click()
    await expect(page.locator("#state")).to_have_text("Ready", timeout=START_MS)
    return page.frame_locator("iframe")


async def draw_server_time(frame: FrameLocator) -> None:
    time = frame.locator("#server-time")
    await expect(time).to_have_text(re.compile(r"\d{4}-\d\d-\d\dT"))
    first = await time.text_content()
    await frame.get_by_role("button", name="Get Server Time").click()
    await expect(time).not_to_have_text(first or "")
    await expect(time).to_have_text(re.compile(r"\d{4}-\d\d-\d\dT"))


async def draw_system_monitor(frame: FrameLocator) -> None:
    await expect(frame.locator("#info-hostname")).not_to_have_text("--")
    # it polls by itself and shows when; a line needs two points, each the change between two polls
    shown_at = frame.locator("#status-text")
    for _ in range(3):
        before = await shown_at.text_content()
        await expect(shown_at).not_to_have_text(before or "", timeout=START_MS)
    await expect(frame.locator("#memory-percent")).to_have_text(re.compile(r"^\d+%$"))
    await frame.get_by_role("button", name="Stop").click()
    await expect_drawing(frame, "#cpu-chart")


async def draw_budget_allocator(frame: FrameLocator) -> None:
    await expect(frame.locator("#status-bar")).to_have_text(re.compile(r"\$[1-9]"))
    await expect(frame.locator("#sliders-container input").first).to_be_visible()
    await expect_drawing(frame, "#budget-chart")


async def draw_cohort_heatmap(frame: FrameLocator) -> None:
    await expect(frame.get_by_role("heading", name="Cohort Retention Analysis")).to_be_visible()
    await expect(frame.get_by_text("100", exact=False).first).to_be_visible()
    await frame.get_by_role("combobox").first.select_option("revenue")
    await expect(frame.get_by_text("Loading...")).to_have_count(0)


async def expect_drawing(frame: FrameLocator, selector: str) -> None:
    """Something is drawn on a canvas, and its animation has come to an end."""
    canvas = frame.locator(selector)
    await expect(canvas).to_be_visible()
    async with asyncio.timeout(STILL_SECONDS):
        while not await canvas.evaluate(STILL):
            await asyncio.sleep(0.2)


@dataclass(frozen=True)
class Shown:
    """What a page does when it works. `calls`: the tool that it calls itself, if any."""

    draw: Callable[[FrameLocator], Awaitable[None]]
    calls: str | None


SHOWN = {
    "basic-vanillajs": Shown(draw_server_time, "get-time"),
    "system-monitor": Shown(draw_system_monitor, "poll-system-stats"),
    "budget-allocator": Shown(draw_budget_allocator, None),
    "cohort-heatmap": Shown(draw_cohort_heatmap, "get-cohort-data"),
}


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.slug)
async def test_its_page_is_opened_run_and_drawn_and_calls_its_tool(
    server: Published, visitor: Page, console: LiveStack
) -> None:
    calls, shown = Calls(visitor), SHOWN[server.slug]
    frame = await open_and_run(visitor, console, server)
    await shown.draw(frame)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    await visitor.screenshot(path=SCREENSHOTS / f"published-{server.slug}.png")
    assert ("run", server.tool) in calls.seen
    own = {tool for surface, tool in calls.seen if surface == "app"}
    assert own == ({shown.calls} if shown.calls else set())


async def test_all_four_are_cards_of_the_console(visitor: Page, console: LiveStack) -> None:
    for server in SERVERS:
        await expect(visitor.get_by_role("link", name=re.compile(server.name))).to_be_visible()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    await visitor.screenshot(path=SCREENSHOTS / "published-home.png")
