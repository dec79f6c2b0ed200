"""Raw MCP callers over aiohttp: as little of their own as can be, so that the way is measured."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aiohttp import ClientSession, DummyCookieJar, TCPConnector

from tests.bench.upstreams import TEXT, TOOL

_JSON = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
_CLIENT = {"name": "bench", "version": "1"}


class Era(StrEnum):
    """The protocol version that a caller speaks."""

    MODERN = "2026-07-28"
    LEGACY = "2025-11-25"


class CallFailed(Exception):
    """An answer that is not the tool's. A bench that counts failures as calls measures nothing."""


@dataclass(frozen=True)
class Times:
    """What some calls took. `each` in seconds, sorted; `total` is wall time of them all.

    `cpu`: processor time of what was watched meanwhile, in seconds.
    """

    each: tuple[float, ...]
    total: float
    cpu: float = 0.0

    def percentile(self, share: float) -> float:
        """The time that this share of the calls took at most, in seconds."""
        return self.each[min(len(self.each) - 1, int(len(self.each) * share))]

    @property
    def per_second(self) -> float:
        """Calls in a second."""
        return len(self.each) / self.total


@dataclass(frozen=True)
class Call:
    """One tool call to one address, ready to be sent many times."""

    url: str
    era: Era
    headers: Mapping[str, str] = field(default_factory=dict)
    tool: str = TOOL
    arguments: Mapping[str, object] = field(default_factory=lambda: {"text": TEXT})
    expect: bytes = TEXT.encode()

    async def measure(
        self, callers: int, calls: int, used: Callable[[], float] = lambda: 0.0
    ) -> Times:
        """Make `calls` calls, shared by `callers` who each wait for an answer before the next.

        Sessions are opened before the clock runs. `used`: the processor time, in seconds, that
        what is watched has used until now. Raises `CallFailed`.
        """
        connector = TCPConnector(limit=0)
        async with ClientSession(connector=connector, cookie_jar=DummyCookieJar()) as http:
            extra = [await self.opened(http) for _ in range(callers)]
            each: list[float] = []
            left = iter(range(calls))
            before, started = used(), time.perf_counter()
            async with asyncio.TaskGroup() as group:
                for headers in extra:
                    group.create_task(self._work(http, headers, left, each))
            total = time.perf_counter() - started
            return Times(tuple(sorted(each)), total, used() - before)

    async def _work(
        self, http: ClientSession, headers: dict[str, str], left: Iterator[int], each: list[float]
    ) -> None:
        body = self.tool_call()
        for _ in left:
            each.append(await self.once(http, headers, body))

    async def once(self, http: ClientSession, headers: Mapping[str, str], body: bytes) -> float:
        """One request, and the seconds that it took. Raises `CallFailed`."""
        started = time.perf_counter()
        async with http.post(self.url, data=body, headers=headers) as answer:
            text = await answer.read()
            if answer.status != 200 or self.expect not in text:
                raise CallFailed(f"{self.url}: {answer.status} {text[:500]!r}")
        return time.perf_counter() - started

    async def opened(self, http: ClientSession) -> dict[str, str]:
        """What each request of one more caller carries, after its handshake if it has one."""
        headers = {**_JSON, **self.headers}
        if self.era is Era.MODERN:
            names = {"Mcp-Method": "tools/call", "Mcp-Name": self.tool}
            return headers | names | {"MCP-Protocol-Version": self.era}
        params = {"protocolVersion": self.era, "capabilities": {}, "clientInfo": _CLIENT}
        body = self.body("initialize", params)
        async with http.post(self.url, data=body, headers=headers) as answer:
            text = await answer.read()
            if answer.status != 200:
                raise CallFailed(f"{self.url}: {answer.status} {text[:500]!r}")
            headers["MCP-Protocol-Version"] = self.era
            if session := answer.headers.get("Mcp-Session-Id"):
                headers["Mcp-Session-Id"] = session
        note = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
        async with http.post(self.url, data=note, headers=headers) as answer:
            await answer.read()
        return headers

    def tool_call(self) -> bytes:
        """The request that is measured."""
        return self.body("tools/call", {"name": self.tool, "arguments": dict(self.arguments)})

    def body(self, method: str, params: Mapping[str, object]) -> bytes:
        """A request."""
        if self.era is Era.MODERN:
            params = {
                **params,
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": self.era,
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": _CLIENT,
                },
            }
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return json.dumps(message).encode()
