"""A tab that is looked at without a user's gesture: whatever Playwright evaluates counts as one.

Reads and writes go over the browser's own protocol, with `userGesture` false. A click is a click of
the mouse.
"""

import asyncio
import json
import time
from typing import Any

from playwright.async_api import CDPSession

from tests.browser.people import Person


class QuietTab:
    """The person's tab and the frame in it, once the frame's page has initialized."""

    def __init__(self, person: Person, host: CDPSession, frame: CDPSession) -> None:
        self._person = person
        self._host = host
        self._frame = frame

    @classmethod
    async def of(cls, person: Person) -> "QuietTab":
        """Waits until the page's frame is there and its script has run."""
        host = await person.context.new_cdp_session(person.page)
        end = time.monotonic() + 10
        while len(person.page.frames) < 2 or not person.page.frames[1].url.startswith("http"):
            assert time.monotonic() < end, "no frame"
            await asyncio.sleep(0.05)
        frame = await person.context.new_cdp_session(person.page.frames[1])
        tab = cls(person, host, frame)
        await tab.until("typeof heard === 'object' && heard.length > 0")
        return tab

    async def page(self, expression: str) -> Any:
        """The value of an expression in the page."""
        return await _value(self._frame, expression)

    async def host(self, expression: str) -> Any:
        """The value of an expression in the host page."""
        return await _value(self._host, expression)

    async def until(self, expression: str, seconds: float = 5) -> Any:
        """The value of an expression in the page, once it is true."""
        end = time.monotonic() + seconds
        while not (value := await self.page(expression)):
            assert time.monotonic() < end, f"{expression} stays {value!r}"
            await asyncio.sleep(0.03)
        return value

    async def note(self, method: str, **params: Any) -> None:
        """The page sends a notification; what the host does about it is done afterwards."""
        await self.page(f"note({method!r}, {json.dumps(params)}); ask('ping').then(() => 0)")

    async def click(self) -> None:
        """The person clicks into the page, where nothing is."""
        await self._person.page.mouse.click(600, 500)

    async def history(self) -> tuple[list[str], int]:
        """The tab's entries as paths of the console, and which of them is shown."""
        found = await self._host.send("Page.getNavigationHistory")
        urls = [entry["url"].removeprefix(self._person.url) for entry in found["entries"]]
        return urls, found["currentIndex"]

    async def address(self) -> str:
        """What the address bar shows, as a path of the console."""
        urls, at = await self.history()
        return urls[at]

    async def go(self, steps: int) -> None:
        """Press Back (-1) or Forward (1)."""
        found = await self._host.send("Page.getNavigationHistory")
        entry = found["entries"][found["currentIndex"] + steps]
        await self._host.send("Page.navigateToHistoryEntry", {"entryId": entry["id"]})

    async def heard(self, method: str) -> list[Any]:
        """The parameters of what the page heard of one kind."""
        found: list[Any] = await self.page(
            f"heard.filter((one) => one.method === {method!r}).map(({{ params }}) => params)"
        )
        return found


async def _value(session: CDPSession, expression: str) -> Any:
    told = {"expression": expression, "returnByValue": True, "awaitPromise": True}
    answer = await session.send("Runtime.evaluate", told | {"userGesture": False})
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return answer["result"].get("value")
