"""A person at a browser: signs in, opens apps, and notices what the browser complains of."""

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Browser, BrowserContext, Frame, Page, Request, expect

from shared.contracts.wire import SESSION_COOKIE

# a browser knows only some of the features that our policy names
_KNOWN = re.compile(r"Permissions-Policy|origin-keyed|Origin trial|DevTools")


async def until(frame: Frame | Page, expression: str, seconds: float = 5.0) -> Any:
    """The value of an expression once it is true there. (Playwright's own way needs eval.)"""
    end = time.monotonic() + seconds
    while not (value := await frame.evaluate(expression)):
        assert time.monotonic() < end, f"{expression} stays {value!r}"
        await asyncio.sleep(0.05)
    return value


@dataclass
class Person:
    """One browser profile with one tab. `calls`: bodies of tool calls that left the browser."""

    url: str
    context: BrowserContext
    page: Page
    calls: list[Any] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @classmethod
    async def at(cls, browser: Browser, url: str, **options: Any) -> "Person":
        """A new profile. `options`: of Playwright's `new_context`."""
        context = await browser.new_context(**options)
        person = cls(url, context, await context.new_page())
        person.page.on("request", person._requested)
        person.page.on("pageerror", lambda error: person.complaints.append(str(error)))
        person.page.on("console", lambda message: person._complained(message.type, message.text))
        return person

    def _requested(self, request: Request) -> None:
        if request.method == "POST" and request.url.endswith("/tools/call"):
            self.calls.append(request.post_data_json)

    def _complained(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"} and not _KNOWN.search(text):
            self.complaints.append(text)

    async def leave(self) -> None:
        await self.context.close()

    async def sign_in(self, name: str) -> None:
        """At the demo provider, by hand, beginning at the console's first page."""
        await self.page.goto(self.url)
        await self.page.get_by_role("link", name=re.compile("Sign in|Continue")).first.click()
        await self.page.get_by_role("button", name=re.compile(name)).click()
        await self.page.wait_for_url(f"{self.url}/")

    async def take_session(self, cookie: str) -> None:
        """Be signed in, where no provider is at hand."""
        secure = self.url.replace("http:", "https:")
        one: Any = {"name": SESSION_COOKIE, "value": cookie, "url": secure, "secure": True}
        await self.context.add_cookies([one])

    async def open(self, path: str) -> None:
        """Go to a path of the console, as if typed."""
        await self.page.goto(self.url + path)

    async def open_silent(self, path: str) -> None:
        """Go to an app whose page does not start. The host's timers have a clock to be turned."""
        await self.page.clock.install()
        await self.open(path)

    async def late(self) -> None:
        """After `open_silent`: so long the host waits for a page."""
        await self.page.clock.fast_forward(8_000)

    async def app(self) -> Frame:
        """The frame that holds the server's page, once it is there."""
        element = await self.page.wait_for_selector("iframe", state="attached")
        frame = await element.content_frame() if element else None
        assert frame is not None
        await frame.wait_for_load_state()
        return frame

    async def state(self, words: str) -> None:
        """The bar says this, now or within a few seconds."""
        await expect(self.page.locator("#state")).to_have_text(words, timeout=10_000)

    async def closed(self, title: str) -> None:
        """strad has closed the page and says why; the frame is gone."""
        await expect(self.page.locator("#closed-title")).to_have_text(title, timeout=10_000)
        await expect(self.page.locator("#closed")).to_be_visible()
        assert await self.page.locator("iframe").count() == 0
