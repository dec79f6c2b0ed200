"""A server whose page is made of the official App SDK: it checks all that the host says."""

import json
import subprocess
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from playwright.async_api import Frame

from tests.apphost.console import Console
from tests.browser.people import Person
from tests.browser.probe import RESULT
from tests.conftest import need

ROOT = Path(__file__).parents[2]
BUNDLER = ROOT / "node_modules" / ".bin" / "esbuild"
PAGE = Path(__file__).parent / "sdk_page.js"


@cache
def _script() -> str:
    need(BUNDLER.exists(), "the packages of package.json: npm ci")
    made = subprocess.run(
        [BUNDLER, PAGE, "--bundle", "--format=iife", "--target=es2022", "--log-level=error"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return made.stdout.decode().replace("</script", "<\\/script")


def sdk_html(capabilities: Any = None) -> str:
    """The page. `capabilities`: what it says of itself."""
    said = escape(json.dumps(capabilities or {}))
    html = f'<!doctype html><html data-capabilities="{said}"><h1>SDK</h1><script>{_script()}'
    return html + "</script>"


async def sdk_page(
    console: Console, person: Person, capabilities: Any = None, **tool: Any
) -> Frame:
    """Open the page; its SDK has shaken hands. `capabilities`: what it says of itself."""
    console.toys.page(sdk_html(capabilities))
    console.toys.tool("show", "ui://t/page", **({"annotations": {"readOnlyHint": True}} | tool))
    console.toys.on_call = lambda _: {**RESULT}
    await person.open("/apps/toys")
    frame = await person.app()
    assert await frame.evaluate("connected") == "connected"
    return frame
