"""A tab, and the frames in it: what a test reads there, and what a person does there.

Nothing that a test evaluates counts as a person's gesture here; a click and a key do.
"""

import asyncio
import json
import time
from typing import Any

from tests.firefox.bidi import Bidi, Refused

ENTER, ESCAPE, TAB, SPACE = "\ue007", "\ue00c", "\ue004", " "
_GONE = {"no such frame", "no such node", "stale element reference", "unknown error"}


def _named(words: str) -> str:
    return f"[...document.querySelectorAll('a, button')].find((e) => /{words}/.test(e.textContent))"


class Place:
    """One browsing context: a tab, or a frame in one."""

    def __init__(self, bidi: Bidi, context: str) -> None:
        self.bidi = bidi
        self.context = context

    async def evaluate(self, expression: str) -> Any:
        """The value of an expression here, awaited; what JSON cannot hold is left out."""
        told = await self.bidi.send(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({expression})))()",
            target={"context": self.context},
            awaitPromise=True,
        )
        assert told["type"] == "success", f"{expression}: {told['exceptionDetails']['text']}"
        text = told["result"].get("value")
        return None if text is None else json.loads(text)

    async def until(self, expression: str, seconds: float = 10) -> Any:
        """The value of an expression here, once it is true."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = await self.evaluate(expression)
            except Refused as error:  # between two documents there is none to ask
                if error.kind not in _GONE:
                    raise
                value = f"({error})"
            else:
                if value:
                    return value
            assert time.monotonic() < end, f"{expression} stays {value!r}"
            await asyncio.sleep(0.05)

    async def find(self, selector: str, seconds: float = 10) -> dict[str, Any]:
        """The first element that a CSS selector finds, as BiDi names it, once there is one."""
        await self.until(f"document.querySelector({json.dumps(selector)}) !== null", seconds)
        locator = {"type": "css", "value": selector}
        found = await self.bidi.send(
            "browsingContext.locateNodes", context=self.context, locator=locator, maxNodeCount=1
        )
        node: dict[str, Any] = found["nodes"][0]
        return {"type": "element", "element": {"sharedId": node["sharedId"]}}

    async def click(self, selector: str) -> None:
        """A person's click into the middle of an element, once it is there and may be pressed."""
        await self.find(selector)
        found = f"document.querySelector({json.dumps(selector)})"
        await self.until(f"{found}.disabled !== true")
        await self.evaluate(f"{found}.scrollIntoView({{ block: 'center', behavior: 'instant' }})")
        await self.point(await self.find(selector))

    async def click_on(self, words: str) -> None:
        """A click on the first link or button whose text matches a regular expression."""
        await self.until(f"{_named(words)} && ({_named(words)}.dataset.here = '1')")
        await self.click("[data-here='1']")

    async def point(self, origin: dict[str, Any] | str, x: int = 0, y: int = 0) -> None:
        """A press of the mouse at an element's middle, or at a place of the "viewport"."""
        actions = [
            {"type": "pointerMove", "x": x, "y": y, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        await self._act({"type": "pointer", "id": "mouse", "actions": actions})

    async def press(self, *keys: str) -> None:
        """Keys, one after the other, to whatever has the focus."""
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        await self._act({"type": "key", "id": "keys", "actions": strokes})

    async def _act(self, *sources: dict[str, Any]) -> None:
        await self.bidi.send("input.performActions", context=self.context, actions=list(sources))

    async def text(self, selector: str, words: str, seconds: float = 10) -> None:
        """An element is to be seen and holds these words, now or soon."""
        quoted = f"document.querySelector({json.dumps(selector)})"
        seen = f"{quoted}?.checkVisibility() && {quoted}.textContent.includes({json.dumps(words)})"
        try:
            await self.until(seen, seconds)
        except AssertionError:
            stays = await self.evaluate(f"{quoted}?.textContent ?? null")
            raise AssertionError(f"{selector} says {stays!r}, not {words!r}") from None


class Tab(Place):
    """A tab of a person's."""

    async def goto(self, url: str, wait: str = "interactive") -> None:
        """As if typed."""
        await self.bidi.send("browsingContext.navigate", context=self.context, url=url, wait=wait)

    async def go(self, steps: int) -> None:
        """Press Back (-1) or Forward (1)."""
        await self.bidi.send("browsingContext.traverseHistory", context=self.context, delta=steps)

    async def url(self) -> str:
        """What the address bar shows."""
        return str((await self._tree())["url"])

    async def frames(self) -> list[dict[str, Any]]:
        """The frames in it, each with `context` and `url`."""
        children: list[dict[str, Any]] = (await self._tree())["children"] or []
        return children

    async def frame(self) -> Place:
        """The frame that holds the server's page, once that is there."""
        end = time.monotonic() + 10
        while not (found := await self.frames()) or not found[0]["url"].startswith("http"):
            assert time.monotonic() < end, f"no frame: {found}"
            await asyncio.sleep(0.05)
        place = Place(self.bidi, found[0]["context"])
        await place.until("document.readyState === 'complete'")
        return place

    async def theme(self, name: str) -> None:
        """The person's theme becomes "dark" or "light", as if the system's did."""
        windows = await self.bidi.send("browsingContext.getTree", **{"moz:scope": "chrome"})
        told = await self.bidi.send(
            "script.evaluate",
            expression="for (const { linkedBrowser: { browsingContext: tab } } of gBrowser.tabs)"
            f" tab.prefersColorSchemeOverride = {json.dumps(name)}",
            target={"context": windows["contexts"][0]["context"]},
            awaitPromise=False,
        )
        assert told["type"] == "success", told

    async def _tree(self) -> dict[str, Any]:
        told = await self.bidi.send("browsingContext.getTree", root=self.context)
        found: dict[str, Any] = told["contexts"][0]
        return found
