"""What live sessions of 2025-11-25 cost: memory of the relay and of Redis, and a call among them.

Each person has as many as the limit that anybody has allows, in one view, at one replica.
"""

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import ClientSession, DummyCookieJar, TCPConnector

from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers
from shared.contracts.identity import Person
from shared.contracts.limits import LimitRules
from tests.bench.caller import Call, Era, Times
from tests.bench.usage import cpu_seconds, resident_mib
from tests.peers.lone_relay import PERSON, LoneRelay, lone_relay
from tests.peers.process import running

VIEWS = {"one server": "/mcp/stub", "merged view": "/mcp"}
OF_EACH = LimitRules().sessions
_OPEN_AT_ONCE = 32
_WARM_CALLS = 200


@dataclass(frozen=True)
class Sessions:
    """With so many: `relay` and `store` in MiB more than with none, `opened` a second.

    `one`: calls in one of them, again and again; `turn`: in each of them in turn.
    """

    number: int
    relay: float
    store: float
    opened: float
    one: Times
    turn: Times


@dataclass(frozen=True)
class Measured:
    """`bare`: MiB of the relay and of Redis before the first session."""

    bare: tuple[float, float]
    steps: tuple[Sessions, ...]


def measure(view: str, numbers: Sequence[int], calls: int, folder: Path) -> Measured:
    """Ever more sessions, at one relay. `calls`: of each kind, or one in every session."""
    people = [
        PERSON.model_copy(update={"sub": f"p{number}", "email": f"p{number}@strad.test"})
        for number in range(-(-max(numbers) // OF_EACH))
    ]
    with _relay(folder, people) as relay:
        return asyncio.run(_Run(relay, VIEWS[view]).steps(numbers, calls))


@contextmanager
def _relay(folder: Path, people: Sequence[Person]) -> Iterator[LoneRelay]:
    port, public = free_ports(2)
    command = [sys.executable, "-m", "tests.bench.upstreams", "stub", str(port)]
    servers = {"stub": f"http://{LOOPBACK}:{port}/mcp"}
    with (
        running(command, folder / "stub.log", answers(port, "/"), {}),
        lone_relay(folder, f"http://{LOOPBACK}:{public}", servers, people=people) as relay,
    ):
        yield relay


class _Run:
    def __init__(self, relay: LoneRelay, path: str) -> None:
        self._relay = relay
        self._pids = (relay.process.pid, relay.store.pid)
        host, url = urlsplit(relay.public_url).netloc, relay.url + path
        # a bare name works in the merged view too, while no other server has such a tool
        self._calls = [
            Call(url, Era.LEGACY, {"Host": host, "Authorization": f"Bearer {token}"})
            for token in relay.tokens
        ]

    async def steps(self, numbers: Sequence[int], calls: int) -> Measured:
        found: list[Sessions] = []
        sessions: list[Mapping[str, str]] = []
        connector = TCPConnector(limit=0)
        async with ClientSession(connector=connector, cookie_jar=DummyCookieJar()) as http:
            # what the relay learns of a server and of a person, once; no session is opened
            for call in self._calls:
                warm = replace(call, era=Era.MODERN)
                await warm.measure(1, max(1, _WARM_CALLS // len(self._calls)))
            bare = self._mib()
            for number in numbers:
                started, before = time.perf_counter(), len(sessions)
                sessions += await self._open(http, range(before, number))
                opened = (number - before) / (time.perf_counter() - started)
                turn = await self._called(http, sessions, max(calls, number))
                one = await self._called(http, sessions[:1], calls)
                relay, store = (now - then for now, then in zip(self._mib(), bare, strict=True))
                found.append(Sessions(number, relay, store, opened, one, turn))
        return Measured(bare, tuple(found))

    async def _open(self, http: ClientSession, numbers: range) -> list[Mapping[str, str]]:
        places = asyncio.Semaphore(_OPEN_AT_ONCE)

        async def one(number: int) -> Mapping[str, str]:
            async with places:
                return await self._calls[number % len(self._calls)].opened(http)

        return await asyncio.gather(*map(one, numbers))

    async def _called(
        self, http: ClientSession, sessions: Sequence[Mapping[str, str]], calls: int
    ) -> Times:
        """One caller, in one session after the other."""
        call, each = self._calls[0], []
        body = call.tool_call()
        used, started = sum(map(cpu_seconds, self._pids)), time.perf_counter()
        for headers in islice(cycle(sessions), calls):
            each.append(await call.once(http, headers, body))
        total = time.perf_counter() - started
        return Times(tuple(sorted(each)), total, sum(map(cpu_seconds, self._pids)) - used)

    def _mib(self) -> tuple[float, float]:
        relay, store = map(resident_mib, self._pids)
        return relay, store
