"""The package's checks of an authorization server, against the whole stack: full marks."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.run.ports import free_ports
from demo.run.settings import Settings
from tests.conformance.suite import NODE, PACKAGE, RUN_SECONDS, is_installed
from tests.conftest import need
from tests.live import LiveStack
from tests.stack.conftest import quick_config
from tests.stack.connecting import allow, registered
from tests.stack.machines import machines_in
from tests.visitor import Visitor, ask

pytestmark = [pytest.mark.node, pytest.mark.stack]


def answer(visitor: Visitor, address: str) -> None:
    """The person allows it, and the browser takes the answer to the client."""
    assert ask(allow(visitor, address)).status == 200


@pytest.fixture(params=["people only", "machines too"])
def installed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LiveStack]:
    """What the metadata says differs."""
    need(is_installed(), "Node 22 and the conformance package: `npm ci`")
    if request.param == "people only":
        yield request.getfixturevalue("stack")
        return
    config = quick_config(tmp_path / "strad.yaml", machines_in(tmp_path))
    with LiveStack(Settings(free_ports(1, in_a_row=2)[0], config=config)) as live:
        yield live


async def test_every_check_of_an_authorization_server_passes(
    installed: LiveStack, tmp_path: Path
) -> None:
    stack, tmp_path = installed, tmp_path / "verdicts"
    tmp_path.mkdir()
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
