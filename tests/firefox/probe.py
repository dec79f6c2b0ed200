"""The probe of the Chromium tests, looked at in Firefox."""

import json
from typing import Any

from tests.apphost.console import Console
from tests.browser.probe import PROBE, ship
from tests.firefox.people import Person
from tests.firefox.tab import Place

METHODS = "heard.filter(({ method }) => method)"


async def probe(
    console: Console, person: Person, query: str = "", *, extra: str = "", **tool: Any
) -> Place:
    """The person opens the probe, as `tests.browser.probe.probe` does in Chromium."""
    ship(console, PROBE + extra, **tool)
    await person.open(f"/apps/toys{query}")
    return await person.app()


async def heard(frame: Place, count: int) -> list[Any]:
    """The notifications that the page has heard: so many, and what came before a later answer."""
    await frame.until(f"{METHODS}.length >= {count}")
    await frame.evaluate("ask('ping').then(() => 0)")
    found: list[Any] = await frame.evaluate(METHODS)
    return found


async def note(frame: Place, method: str, **params: Any) -> None:
    """The page sends a notification; what the host does about it is done afterwards."""
    await frame.evaluate(f"(note({method!r}, {json.dumps(params)}), ask('ping').then(() => 0))")
