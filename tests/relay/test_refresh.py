"""Somebody tells strad that entitlements have changed, by HTTP or by the command."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from services.relay.entitlements.epochs import Epochs
from shared.clock import system_clock
from shared.contracts.wire import INTERNAL_REFRESH_PATH, Service
from shared.signing import Seal
from tests.relay.house import House, house
from tests.relay.pdp import Pdp
from tests.relay.test_alive import open_stream
from tests.relay.twins import twin
from tests.relay.upstreams import sdk_app, served, toy_server
from tests.shared.valkey import valkey

TOKEN = "a-long-secret"


@asynccontextmanager
async def relay(pdp: Pdp, token: str | None = TOKEN) -> AsyncIterator[House]:
    """A relay that keeps answers for a minute."""
    async with pdp.served() as point, served(sdk_app(toy_server())) as url:
        rules = {"keep": 60, "keep_denied": 60, "decision_point": {"url": point}}
        servers = [{"slug": "a", "url": url, "access": {}}]
        async with house(servers, entitlements=rules, refresh_token=token) as h:
            yield h


async def _told(h: House, body: Any, *tokens: str) -> tuple[int, str]:
    headers = [("Authorization", token) for token in tokens]
    address = h.internal_url + INTERNAL_REFRESH_PATH
    async with h.http.post(address, data=body, headers=headers) as response:
        return response.status, await response.text()


async def _statuses(h: House, *urls: str) -> list[int]:
    h_url, found = h.url, []
    for url in urls:
        h.url = url
        sent = {"Host": h_url.removeprefix("http://")}
        found.append((await h.modern("/mcp/a", "tools/list", headers=sent))[0])
    h.url = h_url
    return found


@pytest.mark.parametrize("body", [b'{"person": "Ada@strad.test"}', b"{}", b""])
async def test_a_word_holds_and_ends_streams_on_every_replica_within_a_second(body: bytes) -> None:
    pdp = Pdp(ada={"a"}, bob={"a"})
    async with (
        relay(pdp) as h,
        twin(h) as other,
        open_stream(h, h.url) as here,
        open_stream(h, other) as there,
    ):
        assert await _statuses(h, h.url, other) == [200, 200]
        pdp.may = {"bob": {"a"}}
        assert await _statuses(h, h.url, other) == [200, 200]
        status, _ = await _told(h, body, f"Bearer {TOKEN}")
        assert status == 204
        async with asyncio.timeout(1):
            await asyncio.gather(here.read(), there.read())
        assert await _statuses(h, h.url, other) == [404, 404]


async def test_a_word_about_one_leaves_the_streams_of_others() -> None:
    pdp = Pdp(ada={"a"})
    async with relay(pdp) as h, open_stream(h, h.url) as stream:
        asked = len(pdp.bodies)
        pdp.may = {}
        assert (await _told(h, b'{"person": "bob@strad.test"}', f"Bearer {TOKEN}"))[0] == 204
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await stream.read()
        assert len(pdp.bodies) == asked


@pytest.mark.parametrize(
    "tokens", [(), ("Bearer x",), (TOKEN,), (f"bearer {TOKEN}x",), (f"Bearer {TOKEN}",) * 2]
)
async def test_without_the_token_nobody_is_told_anything(tokens: tuple[str, ...]) -> None:
    pdp = Pdp(ada={"a"})
    async with relay(pdp) as h:
        await _statuses(h, h.url)
        asked = len(pdp.bodies)
        assert (await _told(h, b"{}", *tokens))[0] == 401
        await _statuses(h, h.url)
        assert len(pdp.bodies) == asked


async def test_where_no_token_is_configured_there_is_nothing() -> None:
    async with relay(Pdp(), None) as h:
        for token in ("", "Bearer ", "Bearer None", f"Bearer {TOKEN}"):
            assert (await _told(h, b"{}", token))[0] == 404


@pytest.mark.parametrize(
    "body", [b"[]", b"x", b'{"person": "Ada"}', b'{"who": 1}', b'{"person": 7}', b"[" * 9999]
)
async def test_a_body_that_is_not_understood_tells_nobody_anything(body: bytes) -> None:
    pdp = Pdp(ada={"a"})
    async with relay(pdp) as h:
        status, text = await _told(h, body, f"Bearer {TOKEN}")
        assert status == 400
        assert "ada@example.com" in text


@pytest.mark.parametrize("email", ["Ada@strad.test", None])
async def test_the_command_tells_every_replica(tmp_path: Path, email: str | None) -> None:
    with valkey(tmp_path) as server:
        folder = server.keys / "relay"
        variables = {"STRAD_KEYS": str(folder), "STRAD_REDIS": server.url}
        lines = [(folder / name).read_text().split() for name in ("grant.key", "index.key")]
        seal = Seal([bytes.fromhex(one) for one in lines[0]], bytes.fromhex(lines[1][0]))
        store = server.connect(Service.RELAY)
        epochs = Epochs(store, seal, system_clock)
        await epochs.now()
        heard: asyncio.Queue[str | None] = asyncio.Queue()
        epochs.heard = heard.put_nowait
        hearing = asyncio.create_task(epochs.hear())
        await asyncio.sleep(0.3)
        command = [sys.executable, "-m", "cli", "refresh", *([email] if email else [])]
        done = await asyncio.to_thread(
            subprocess.run, command, env=os.environ | variables, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        async with asyncio.timeout(5):
            assert await heard.get() == (epochs.who(email) if email else None)
        assert not await epochs.holds("ada@strad.test", 0)
        hearing.cancel()
        await store.close()
        variables["STRAD_REDIS"] = "redis://127.0.0.1:1/0"
        done = await asyncio.to_thread(
            subprocess.run, command, env=os.environ | variables, capture_output=True, text=True
        )
        assert done.returncode == 1
        assert "check STRAD_REDIS" in done.stderr
