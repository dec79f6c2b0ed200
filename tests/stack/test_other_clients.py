"""Clients that other people write work through /mcp: the TypeScript SDK's, and the MCP Inspector's.

The Python SDK's is in test_clients.py.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from demo.run.settings import ROOT
from tests.conftest import need
from tests.live import LiveStack
from tests.stack.callers import NEW, OLD

pytestmark = [pytest.mark.node, pytest.mark.stack]

NODE = ROOT / "node_modules" / "node" / "bin" / "node"
INSPECTOR = ROOT / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
SCRIPT = Path(__file__).parent / "typescript_client.mjs"
SECONDS = 60

views = pytest.mark.parametrize(("path", "prefix"), [("/mcp/catalog", ""), ("/mcp", "catalog__")])


@pytest.fixture(scope="module")
def ada(stack: LiveStack) -> str:
    need(NODE.is_file() and INSPECTOR.is_file(), "Node 22 and the packages of package.json: npm ci")
    return stack.token("ada")


def run(folder: Path, *command: str | Path, **variables: str) -> str:
    """What a program of Node prints; its home is an empty folder."""
    done = subprocess.run(
        [NODE, *command],
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@views
@pytest.mark.parametrize(("mode", "version"), [("legacy", OLD), (NEW, NEW)])
def test_the_typescript_client_lists_and_calls(
    stack: LiveStack, ada: str, path: str, prefix: str, mode: str, version: str, tmp_path: Path
) -> None:
    arguments = [mode, f"{prefix}list_toys", '{"query": ""}']
    said = json.loads(run(tmp_path, SCRIPT, stack.url + path, *arguments, TOKEN=ada))
    assert said["version"] == version
    assert {f"{prefix}list_toys", f"{prefix}show_catalog"} <= set(said["tools"])
    assert len(said["result"]["structuredContent"]["toys"]) > 3


@views
def test_the_inspectors_command_line_lists_and_calls(
    stack: LiveStack, ada: str, path: str, prefix: str, tmp_path: Path
) -> None:
    def inspect(method: str, *more: str) -> Any:
        command = [str(INSPECTOR), "--cli", stack.url + path, "--transport", "http"]
        command += ["--header", f"Authorization: Bearer {ada}", "--method", method, *more]
        return json.loads(run(tmp_path, *command))

    names = {tool["name"] for tool in inspect("tools/list")["tools"]}
    assert {f"{prefix}list_toys", f"{prefix}show_catalog"} <= names
    arguments = ["--tool-name", f"{prefix}list_toys", "--tool-arg", "query=a"]
    toys = inspect("tools/call", *arguments)["structuredContent"]["toys"]
    assert toys
