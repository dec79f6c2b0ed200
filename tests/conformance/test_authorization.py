"""The package's checks of an authorization server, against the whole stack: full marks."""

import asyncio
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from demo.run.ports import free_ports
from tests.conformance.suite import NODE, PACKAGE, RUN_SECONDS, is_installed
from tests.conftest import need
from tests.live import LiveStack
from tests.stack.connecting import allow, registered
from tests.visitor import Visitor, ask

pytestmark = [pytest.mark.node, pytest.mark.stack]


def answer(visitor: Visitor, address: str) -> None:
    """The person allows it, and the browser takes the answer to the client."""
    assert ask(allow(visitor, address)).status == 200


async def test_every_check_of_an_authorization_server_passes(
    stack: LiveStack, tmp_path: Path
) -> None:
    need(is_installed(), "Node 22 and the conformance package: `npm ci`")
    (port,) = free_ports(1)
    client = await asyncio.to_thread(registered, stack.url, f"http://127.0.0.1:{port}/callback")
    visitor = await asyncio.to_thread(stack.visitor, "ada")
    argv = [str(NODE), str(PACKAGE / "dist/index.js"), "authorization", "--url", stack.url]
    argv += ["--client-id", client, "--resource", f"{stack.url}/mcp", "--port", str(port)]
    process = await asyncio.create_subprocess_exec(
        *argv,
        *("--output-dir", str(tmp_path)),
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    said = ""
    try:
        async with asyncio.timeout(RUN_SECONDS):
            async for raw in process.stdout:
                line = raw.decode(errors="replace").strip()
                said += f"{line}\n"
                if line.startswith(f"{stack.url}/oauth/authorize?"):
                    await asyncio.to_thread(answer, visitor, line)
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    checks = Counter(
        (check["id"], check["status"])
        for file in tmp_path.rglob("checks.json")
        for check in json.loads(file.read_text())
        if check["status"] != "INFO"
    )
    assert {status for _, status in checks} == {"SUCCESS"}, said
    names = {
        "authorization-server-metadata",
        "authorization-server-metadata-cimd",
        "authorization-code-grant",
    }
    assert {name for name, _ in checks} == names, said
