"""A server whose page is made of the official App SDK: it checks all that the host says."""

import json
import subprocess
from dataclasses import dataclass
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
NAME = "@modelcontextprotocol/ext-apps"
# the versions that pages are built with today, by their names in package.json
VERSIONS = {"2": NAME, "1.7": "ext-apps-1"}


@cache
def _script(package: str) -> str:
    need(BUNDLER.exists(), "the packages of package.json: npm ci")
    options = ["--bundle", "--format=iife", "--target=es2022", "--log-level=error"]
    if package != NAME:
        options.append(f"--alias:{NAME}={package}")
    made = subprocess.run([BUNDLER, PAGE, *options], cwd=ROOT, check=True, capture_output=True)
    return made.stdout.decode().replace("</script", "<\\/script")


@dataclass(frozen=True)
class Sdk:
    """The SDK in one of its versions."""

    version: str

    def html(self, capabilities: Any = None) -> str:
        """The page. `capabilities`: what it says of itself."""
        said = escape(json.dumps(capabilities or {}))
        script = _script(VERSIONS[self.version])
        html = f'<!doctype html><html data-capabilities="{said}"><h1>SDK</h1><script>{script}'
        return html + "</script>"

    async def page(
        self, console: Console, person: Person, capabilities: Any = None, **tool: Any
    ) -> Frame:
        """Open the page; its SDK has shaken hands. `capabilities`: what it says of itself."""
        console.toys.page(self.html(capabilities))
        told = {"annotations": {"readOnlyHint": True}} | tool
        console.toys.tool("show", "ui://t/page", **told)
        console.toys.on_call = lambda _: {**RESULT}
        await person.open("/apps/toys")
        frame = await person.app()
        assert await frame.evaluate("connected") == "connected"
        return frame
