"""What streams cost that nobody says anything on: memory, the time to open them, the calls beside.

And how long it takes until all of them have been told of one change.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import ClientResponse, ClientSession, DummyCookieJar, TCPConnector

from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers
from services.relay.changes.alive import RECHECK_SECONDS
from tests.bench.caller import Call, CallFailed, Era
from tests.bench.upstreams import CHANGED
from tests.bench.usage import cpu_seconds, resident_mib
from tests.peers.lone_relay import LoneRelay, lone_relay
from tests.peers.process import running

KINDS = {
    "2026-07-28, one server": ("/mcp/stub", Era.MODERN),
    "2026-07-28, merged view": ("/mcp", Era.MODERN),
    "2025-11-25, merged view": ("/mcp", Era.LEGACY),
}
_OPEN_AT_ONCE = 32
_TOLD_SECONDS = 60.0
_SETTLE_SECONDS = 2.0


@dataclass(frozen=True)
class Streams:
    """`mib`: of the relay before and with them. `p50`, `p99`: of calls, in seconds, the same way.

    `opened`: seconds until all were open. `told`: seconds until half and until all had heard.
    `idle_cpu`: share of one processor that they take while nothing happens.
    """

    kind: str
    number: int
    mib: tuple[float, float]
    p50: tuple[float, float]
    p99: tuple[float, float]
    opened: float
    told: tuple[float, float]
    idle_cpu: float


@contextmanager
def relays(folder: Path) -> Iterator[tuple[LoneRelay, str]]:
    """A relay in front of the stub, and the stub's own address."""
    port, public = free_ports(2)
    command = [sys.executable, "-m", "tests.bench.upstreams", "stub", str(port)]
    stub = f"http://{LOOPBACK}:{port}"
    with (
        running(command, folder / "stub.log", answers(port, "/"), {}),
        lone_relay(folder, f"http://{LOOPBACK}:{public}", {"stub": f"{stub}/mcp"}) as relay,
    ):
        yield relay, stub


def measure(
    kind: str, number: int, calls: int, folder: Path, rest: float = RECHECK_SECONDS
) -> Streams:
    """So many streams of one kind, at a relay of their own; files go into `folder`.

    `rest`: seconds in which nothing happens. The relay looks once at each stream in 15.
    """
    with relays(folder) as (relay, stub):
        return asyncio.run(_measured(relay, stub, kind, number, calls, rest))


async def _measured(
    relay: LoneRelay, stub: str, kind: str, number: int, calls: int, rest: float
) -> Streams:
    (path, era), pid = KINDS[kind], relay.process.pid
    headers = {
        "Host": urlsplit(relay.public_url).netloc,
        "Authorization": f"Bearer {relay.token}",
    }
    call = Call(f"{relay.url}/mcp/stub", Era.MODERN, headers)
    await call.measure(1, calls)
    before, alone = resident_mib(pid), await call.measure(1, calls)
    started = time.perf_counter()
    async with _open(Call(relay.url + path, era, headers), number) as streams:
        opened = time.perf_counter() - started
        await asyncio.sleep(min(rest, _SETTLE_SECONDS))
        used = cpu_seconds(pid)
        await asyncio.sleep(rest)
        idle = (cpu_seconds(pid) - used) / rest
        after, beside = resident_mib(pid), await call.measure(1, calls)
        told = await _told(streams, stub)
    p50, p99 = ((alone.percentile(share), beside.percentile(share)) for share in (0.5, 0.99))
    return Streams(kind, number, (before, after), p50, p99, opened, told, idle)


@asynccontextmanager
async def _open(call: Call, number: int) -> AsyncIterator[list[ClientResponse]]:
    """The streams, each of a caller of its own; those of 2025-11-25 in sessions of their own."""
    connector = TCPConnector(limit=0)
    places = asyncio.Semaphore(_OPEN_AT_ONCE)
    async with ClientSession(connector=connector, cookie_jar=DummyCookieJar()) as http:

        async def one() -> ClientResponse:
            async with places:
                return await _stream(http, call)

        found = await asyncio.gather(*(one() for _ in range(number)))
        try:
            yield found
        finally:
            for stream in found:
                stream.close()


async def _stream(http: ClientSession, call: Call) -> ClientResponse:
    headers = await call.opened(http)
    if call.era is Era.MODERN:
        headers = {**headers, "Mcp-Method": "subscriptions/listen"}
        headers.pop("Mcp-Name", None)
        wanted = {"notifications": {"toolsListChanged": True}}
        body = call.body("subscriptions/listen", wanted)
        stream = await http.post(call.url, data=body, headers=headers)
    else:
        stream = await http.get(call.url, headers=headers)
    if stream.status != 200 or stream.content_type != "text/event-stream":
        raise CallFailed(f"{call.url}: {stream.status} {(await stream.read())[:500]!r}")
    if call.era is Era.MODERN:
        await _until(stream, "acknowledged")
    return stream


async def _told(streams: list[ClientResponse], stub: str) -> tuple[float, float]:
    """Seconds from the change until half of the streams, and until all of them, have heard."""
    heard: list[float] = []

    async def one(stream: ClientResponse) -> None:
        await _until(stream, CHANGED)
        heard.append(time.perf_counter())

    async with asyncio.timeout(_TOLD_SECONDS), asyncio.TaskGroup() as group:
        for stream in streams:
            group.create_task(one(stream))
        await asyncio.sleep(0)
        started = time.perf_counter()
        async with ClientSession() as http, http.post(f"{stub}/change") as answer:
            await answer.read()
    return heard[len(heard) // 2] - started, heard[-1] - started


async def _until(stream: ClientResponse, method: str) -> None:
    async for line in stream.content:
        if line.startswith(b"data:") and method in json.loads(line[5:]).get("method", ""):
            return
    raise CallFailed(f"a stream ended before it said {method}")
