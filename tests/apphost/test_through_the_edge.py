"""The edge holds nothing back: neither what a call says on its way, nor that its caller left."""

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from demo.run import binaries
from demo.run.ports import free_ports
from tests.apphost.pair import Pair, pair
from tests.relay.test_cancel import SOON, Cancelled
from tests.relay.test_progress import both_eras, fake, told
from tests.relay.upstreams import Fake

CADDYFILE = Path(__file__).parents[2] / "deploy" / "Caddyfile"


@asynccontextmanager
async def edge(port: int, apphost: int, folder: Path) -> AsyncIterator[None]:
    """Caddy with the file that is shipped."""
    own = {"PORT": str(port), "BIND": "127.0.0.1", "APPHOST_PORT": str(apphost)}
    own |= dict.fromkeys(("APPHOST_HOST", "RELAY_HOST", "AUTH_HOST"), "127.0.0.1")
    own |= dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
    process = await asyncio.create_subprocess_exec(
        binaries.caddy(),
        *("run", "--adapter", "caddyfile", "--config", CADDYFILE),
        env=os.environ | own,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(10):
            while not await asyncio.to_thread(_listens, port):
                await asyncio.sleep(0.05)
        yield
    finally:
        process.kill()
        await process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


@asynccontextmanager
async def behind_the_edge(server: Fake, folder: Path) -> AsyncIterator[Pair]:
    public, own = free_ports(2)
    address = f"http://127.0.0.1:{public}"
    async with (
        server.served() as url,
        pair([{"slug": "a", "url": url, "timeout": 20}], public_url=address, port=own) as p,
        edge(public, own, folder),
    ):
        yield p


async def test_each_line_passes_the_edge_when_it_is_said(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def work(token: Any, send: Any) -> None:
        await send(told(token, 1))
        await go_on.wait()

    async with behind_the_edge(fake("modern", work), tmp_path) as p, p.calling() as response:
        async with asyncio.timeout(2):
            first = json.loads(await response.content.readline())
        assert first == {"progress": {"progress": 1}}
        go_on.set()
        assert "result" in json.loads(await response.content.readline())


@both_eras
@pytest.mark.parametrize("reports", [True, False])
async def test_who_leaves_behind_the_edge_cancels_the_call(
    era: str, reports: bool, tmp_path: Path
) -> None:
    call = Cancelled(era, reports=reports)
    async with behind_the_edge(call.server, tmp_path) as p:

        async def ask() -> None:
            async with p.calling() as response:
                await response.read()

        task = asyncio.create_task(ask())
        await asyncio.wait_for(call.began.wait(), 5)
        task.cancel()
        assert await call.took() < SOON
