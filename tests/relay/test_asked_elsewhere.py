"""A client that others wrote is asked through the relay, and answers: the TypeScript SDK's."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from demo.run.settings import ROOT
from tests.conftest import need
from tests.relay.asking import asking_server
from tests.relay.house import house
from tests.relay.upstreams import sdk_app, served

pytestmark = pytest.mark.node

NODE = ROOT / "node_modules" / "node" / "bin" / "node"
CLIENT = ROOT / "node_modules" / "@modelcontextprotocol" / "client"
SCRIPT = Path(__file__).parent / "typescript_asked.mjs"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize(("view", "prefix"), [("/mcp/a", ""), ("/mcp", "a__")])
async def test_the_typescript_client_is_asked_and_answers(
    view: str, prefix: str, mode: str, tmp_path: Path
) -> None:
    need(NODE.is_file() and CLIENT.is_dir(), "Node 22 and the packages of package.json: npm ci")
    async with (
        served(sdk_app(asking_server(), "modern")) as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        process = await asyncio.create_subprocess_exec(
            *(NODE, SCRIPT, h.url + view, mode, prefix),
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TOKEN": await h.token()},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            out, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
    assert json.loads(out) == {
        "order": "my size paid accept",
        "dress": "my hat hat;my coat coat;my shoes shoes;",
        "wait": "waited",
        "forget": "my name",
        "think": "blue",
        "look": "file:///home",
    }
