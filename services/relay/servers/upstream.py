"""HTTP to a server: what is sent, how long it may take, how much may come back, what went wrong.

Headers are built from an allow-list. A caller's Authorization, Cookie, Origin, Referer and
forwarding headers never reach a server; the only credentials it sees are the operator's.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Any

import aiohttp
from mcp.shared.inbound import MCP_PARAM_HEADER_PREFIX
from multidict import CIMultiDict
from yarl import URL

from services.relay.gate import Way
from services.relay.messages import rpc, weigh
from services.relay.servers import trace
from services.relay.servers.breaker import Breaker
from services.relay.servers.lost import check_session
from services.relay.servers.passport import Passports
from services.relay.servers.turns import Turns
from shared import egress
from shared.contracts.config import Identity, Server
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import IDENTITY_HEADER

MAX_ANSWER_BYTES = 16 * 1024 * 1024
CONNECT_SECONDS = 5.0
TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)

_PASSED = frozenset(
    {
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
    }
)
_PARAM = MCP_PARAM_HEADER_PREFIX.lower()
_ALWAYS = {
    "Accept": "application/json, text/event-stream",
    "Accept-Encoding": "identity",  # a compressed answer could unpack to any size
    "Content-Type": "application/json",
    "User-Agent": "strad-relay",
}


def passed_on(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """Those headers of a caller that belong to MCP, and no others."""
    return CIMultiDict(
        (name, value)
        for name, value in headers.items()
        if name.lower() in _PASSED or name.lower().startswith(_PARAM)
    )


class Upstream:
    """Opens requests to servers. Every one needs a `Way`."""

    def __init__(
        self,
        client: aiohttp.ClientSession,
        credentials: Mapping[str, Mapping[str, str]],
        passports: Passports,
        breaker: Breaker,
        turns: Turns,
    ) -> None:
        self._client = client
        self._breaker = breaker
        self._turns = turns
        self._credentials = credentials
        self._passports = passports
        self._urls: dict[str, URL] = {}

    @asynccontextmanager
    async def open(
        self,
        way: Way,
        verb: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        in_turn: bool = True,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The response to one request; leaving the block closes it, which cancels what still runs.

        `in_turn` False: for what belongs to a request that has its turn already, and for streams
        that last. Raises a `Problem` for what is never an answer: no connection, a redirect, a
        refusal of our credentials, a failure inside the server, and no turn in time.
        """
        server = way.server
        turn = self._turns.at(way).one(way.principal.subject) if in_turn else nullcontext()
        async with turn:
            response = await self._send(way, verb, headers, body)
            try:
                with told(server):
                    await check_session(server, response, headers)
                _check_status(server, response.status)
                yield response
            finally:
                response.close() if not response.content.at_eof() else response.release()

    async def _send(
        self, way: Way, verb: str, headers: Mapping[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        server = way.server
        url = self._urls.get(server.url) or self._urls.setdefault(server.url, URL(server.url))
        sent: CIMultiDict[str] = CIMultiDict(_ALWAYS)
        sent.update(trace.headers())
        sent.update(headers)
        sent.update(self._credentials.get(server.slug, {}))
        if server.language is not None:
            sent["Accept-Language"] = server.language
        if server.identity is Identity.SIGNED:
            sent[IDENTITY_HEADER] = self._passports.issue(way)
        with self._breaker.of(way).attempt(), told(server), egress.only_to(server.networks):
            return await self._client.request(
                verb, url, data=body, headers=sent, allow_redirects=False
            )


@contextmanager
def told(server: Server) -> Iterator[None]:
    """Turn what goes wrong while reading from a server into a named problem."""
    try:
        yield
    except TimeoutError as error:
        raise too_slow(server, CONNECT_SECONDS) from error
    except aiohttp.ClientPayloadError as error:
        raise broke_off(server) from error
    except (aiohttp.ClientConnectionError, OSError) as error:
        advice = "It may be restarting. Try again in a moment, or tell its owner."
        title = f"{server.name} cannot be reached."
        raise Problem(ProblemKind.UPSTREAM_UNREACHABLE, title, advice) from error
    except (aiohttp.ClientError, ValueError) as error:
        raise malformed(server, "its answer is not HTTP that can be read") from error


class Patience:
    """A deadline that signs of life move, up to the server's `longest`. Begins when it is made."""

    def __init__(self, limit: asyncio.Timeout, server: Server) -> None:
        self._limit = limit
        self._idle = server.timeout
        self._end = asyncio.get_running_loop().time() + server.longest

    def renew(self) -> None:
        """The server is at work: wait as long again from now."""
        if not self._limit.expired():
            now = asyncio.get_running_loop().time()
            self._limit.reschedule(min(now + self._idle, self._end))


@asynccontextmanager
async def deadline(server: Server, seconds: float | None = None) -> AsyncIterator[asyncio.Timeout]:
    """Everything inside ends in time: the server's own `timeout`, or fewer seconds."""
    seconds = seconds or server.timeout
    clock = asyncio.get_running_loop().time
    started = clock()
    try:
        async with asyncio.timeout(seconds) as limit:
            yield limit
    except TimeoutError as error:
        raise too_slow(server, max(seconds, int(clock() - started))) from error


async def whole(server: Server, response: aiohttp.ClientResponse) -> bytes:
    """The body, up to MAX_ANSWER_BYTES."""
    size = response.content_length or 0
    parts: list[bytes] = []
    if size <= MAX_ANSWER_BYTES:
        size = 0
        with told(server):
            async for part in response.content.iter_any():
                size += len(part)
                if size > MAX_ANSWER_BYTES:
                    break
                parts.append(part)
    if size > MAX_ANSWER_BYTES:
        raise too_large(server)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_message(server: Server, raw: bytes) -> rpc.Message:
    """One JSON-RPC message of a server; only the frame is looked at."""
    try:
        message: Any = rpc.loads(raw)
    except rpc.TooHeavy as error:
        raise too_large(server, f"{weigh.MAX_PARTS} values") from error
    except rpc.Unreadable as error:
        raise malformed(server, "its answer is not JSON") from error
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise malformed(server, "its answer is not a JSON-RPC message")
    return message


def too_slow(server: Server, seconds: float) -> Problem:
    advice = f"strad waited {seconds:g} s. Try again, or tell its owner."
    return Problem(ProblemKind.UPSTREAM_TIMEOUT, f"{server.name} did not answer in time.", advice)


def too_large(server: Server, most: str = f"{MAX_ANSWER_BYTES // 2**20} MiB") -> Problem:
    advice = f"More than {most} came back; that is not passed on."
    title = f"The answer of {server.name} is too large."
    return Problem(ProblemKind.UPSTREAM_TOO_LARGE, title, advice)


def broke_off(server: Server) -> Problem:
    advice = "What it was asked to do may or may not have happened. Check before you try again."
    title = f"{server.name} broke off in the middle of its answer."
    return Problem(ProblemKind.UPSTREAM_UNREACHABLE, title, advice)


def malformed(server: Server, detail: str) -> Problem:
    title = f"{server.name} sent something that cannot be used: {detail}."
    return Problem(ProblemKind.UPSTREAM_MALFORMED, title, "Tell its owner.")


def refused(server: Server, detail: str) -> Problem:
    title = f"{server.name} refused the request: {detail}."
    advice = "Tell an administrator: the server, its address or its credentials need attention."
    return Problem(ProblemKind.UPSTREAM_REFUSED, title, advice)


def _check_status(server: Server, status: int) -> None:
    if 300 <= status < 400:
        # following it could carry the operator's credentials to another host
        raise refused(server, f"it answered with a redirect (HTTP {status})")
    if status in {401, 403, 407}:
        # not the caller's fault: passed on, it would make a client drop its own good token
        raise refused(server, f"it does not accept strad's credentials (HTTP {status})")
    if status >= 500:
        raise refused(server, f"it failed inside (HTTP {status})")
