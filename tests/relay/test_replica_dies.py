"""A replica is killed while it works: its callers know at once, and the next one goes on."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from demo.run.ports import LOOPBACK, free_ports
from shared.clock import system_clock
from shared.key_folder import Keys
from shared.keys import AUDITOR
from shared.settings import Environment
from shared.stores.audit import TrailReader
from shared.stores.redis import connect
from tests.peers.lone_relay import LoneRelay, lone_relay
from tests.relay.changing import ChangingModern
from tests.relay.old_caller import ACCEPT, Heard, message
from tests.relay.test_progress import fake, told

pytestmark = pytest.mark.stack

VERSION = "2026-07-28"
CELLS = [("old", "modern"), ("new", "legacy"), ("old", "legacy"), ("new", "modern")]


@pytest.fixture
def ports() -> dict[str, int]:
    """Where the servers are."""
    return dict(zip(("legacy", "modern"), free_ports(2), strict=True))


@pytest.fixture
def relay(
    request: pytest.FixtureRequest, ports: dict[str, int], tmp_path: Path
) -> Iterator[LoneRelay]:
    """One replica for each death, and one that lives."""
    servers = {era: f"http://{LOOPBACK}:{port}/mcp" for era, port in ports.items()}
    replicas = request.param + 1
    with lone_relay(tmp_path, "https://relay.test", servers, replicas=replicas) as running:
        yield running


@dataclass
class Caller:
    """Of either version, at one replica at a time."""

    http: aiohttp.ClientSession
    relay: LoneRelay
    mode: str
    path: str
    session: str | None = None

    @asynccontextmanager
    async def post(self, at: int, body: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        """One message to one replica."""
        headers = {
            "Accept": ACCEPT,
            "Authorization": f"Bearer {self.relay.token}",
            "Host": "relay.test",
        }
        if self.mode == "new":
            headers |= {"MCP-Protocol-Version": VERSION, "Mcp-Method": body["method"]}
            named = body["params"].get("name")
            headers |= {"Mcp-Name": named} if named else {}
            meta = body["params"].setdefault("_meta", {})
            meta["io.modelcontextprotocol/protocolVersion"] = VERSION
            meta["io.modelcontextprotocol/clientCapabilities"] = {}
        if self.session is not None:
            headers["Mcp-Session-Id"] = self.session
        url = self.relay.replicas[at].url + self.path
        async with self.http.post(url, json=body, headers=headers) as response:
            yield response

    async def begin(self, at: int) -> None:
        """The handshake of those that have one."""
        if self.mode == "new":
            return
        info = {"name": "t", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        async with self.post(at, message("initialize", 0, **params)) as response:
            assert response.status == 200, await response.text()
            self.session = response.headers["Mcp-Session-Id"]

    async def call(self, at: int) -> Any:
        """A call to its end, with progress."""
        params = {"name": "go", "arguments": {}, "_meta": {"progressToken": "p"}}
        async with self.post(at, message("tools/call", 1, **params)) as response:
            assert response.status == 200, await response.text()
            text = await response.text()
        if response.content_type == "application/json":
            return json.loads(text)
        return json.loads([line for line in text.splitlines() if line.startswith("data:")][-1][5:])


async def unended(relay: LoneRelay) -> set[str]:
    """The ids of the calls in the trail that have not come to their end."""
    env = Environment()
    keys = Keys(env, relay.keys / AUDITOR)
    seal, password = keys.audit_seal(), keys.text("redis.password")
    env.done()
    assert seal is not None
    store = connect(relay.redis_url, AUDITOR, password)
    trail = TrailReader(store, seal, system_clock)
    found = [one async for one in trail.entries(0) if one.get("method") == "tools/call"]
    await store.close()
    return {one["id"] for one in found} - {one["id"] for one in found if "running" not in one}


@pytest.mark.parametrize("relay", [len(CELLS)], indirect=True, ids=["each cell"])
async def test_its_callers_know_at_once_nothing_is_repeated_and_the_next_replica_goes_on(
    relay: LoneRelay, ports: dict[str, int]
) -> None:
    for at, (mode, era) in enumerate(CELLS):
        # the caller's answer has begun already, or has not
        await _dies(relay, ports[era], at, mode, era, reports=at == 0)


async def _dies(
    relay: LoneRelay, port: int, at: int, mode: str, era: str, *, reports: bool
) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()
    calls = 0

    async def work(token: Any, send: Any) -> None:
        nonlocal calls
        calls += 1
        if reports:
            await send(told(token, 1))
        began.set()
        await go_on.wait()

    async with fake(era, work).served(port), aiohttp.ClientSession() as http:
        caller = Caller(http, relay, mode, f"/mcp/{era}")
        await caller.begin(at)
        before = await unended(relay)
        task = asyncio.create_task(caller.call(at))
        await asyncio.wait_for(began.wait(), 10)
        async with asyncio.timeout(10):
            while not (dead := await unended(relay) - before):
                await asyncio.sleep(0.05)
        relay.replicas[at].process.kill()
        with pytest.raises(aiohttp.ClientError):
            await asyncio.wait_for(task, 5)
        go_on.set()
        assert calls == 1
        answer = await asyncio.wait_for(caller.call(at + 1), 10)
        assert answer["result"]["structuredContent"] == {"n": 7}
        assert calls == 2
        # the trail keeps it, as one whose end nobody has seen
        assert dead <= await unended(relay)


@pytest.mark.parametrize("relay", [1], indirect=True, ids=["once"])
async def test_a_stream_breaks_and_is_opened_at_the_next_replica(
    relay: LoneRelay, ports: dict[str, int]
) -> None:
    server = ChangingModern()
    async with server.served(ports["modern"]), aiohttp.ClientSession() as http:
        caller = Caller(http, relay, "old", "/mcp/modern")
        await caller.begin(0)
        headers = {
            "Accept": ACCEPT,
            "Authorization": f"Bearer {relay.token}",
            "Host": "relay.test",
            "Mcp-Session-Id": str(caller.session),
        }
        async with caller.post(1, message("resources/subscribe", 1, uri="x://r")) as response:
            assert response.status == 200
        async with http.get(relay.replicas[0].url + caller.path, headers=headers) as first:
            assert first.status == 200
            heard = Heard(first)
            relay.replicas[0].process.kill()
            assert await heard.next() is None
        async with http.get(relay.replicas[1].url + caller.path, headers=headers) as second:
            again = Heard(second)
            async with asyncio.timeout(5):
                while not any("x://r" in server.subscriptions(one) for one in server.streams):
                    await asyncio.sleep(0.01)
            await server.updated("x://r")
            assert (await again.next())["params"] == {"uri": "x://r"}
