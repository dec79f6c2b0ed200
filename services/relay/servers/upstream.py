"""HTTP to a server: what is sent, how long it may take, how much may come back, what went wrong.

Headers are built from an allow-list. A caller's Authorization, Cookie, Origin, Referer and
forwarding headers never reach a server; the only credentials it sees are the operator's.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import TracebackType

import aiohttp
from mcp.shared.inbound import MCP_PARAM_HEADER_PREFIX
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from services.relay.gate import Way
from services.relay.servers import trace
from services.relay.servers.breaker import Breaker
from services.relay.servers.clients import Clients
from services.relay.servers.failures import check_status, told
from services.relay.servers.lost import SESSION_HEADER, check_session
from services.relay.servers.passport import Passports
from services.relay.servers.turns import Places, Turns
from shared.contracts.config import Identity
from shared.contracts.wire import IDENTITY_HEADER

_PASSED = ("Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name")
_PARAM = MCP_PARAM_HEADER_PREFIX.lower()

Sending = Callable[[], None]


def passed_on(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """Those headers of a caller that belong to MCP, and no others."""
    found: CIMultiDict[str] = CIMultiDict()
    for name in _PASSED:
        if name in headers:
            found[name] = headers[name]
    if _PARAM in " ".join(headers).lower():
        found.update({name: headers[name] for name in headers if name.lower().startswith(_PARAM)})
    return found


class Upstream:
    """Opens requests to servers. Every one needs a `Way`."""

    def __init__(
        self,
        clients: Clients,
        passports: Passports,
        breaker: Breaker,
        turns: Turns,
    ) -> None:
        self._clients = clients
        self._breaker = breaker
        self._turns = turns
        self._passports = passports
        self._urls: dict[str, URL] = {}

    def open(
        self,
        way: Way,
        verb: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        in_turn: bool = True,
        sending: Sending | None = None,
    ) -> "Exchange":
        """One request; entered, it gives the response.

        `in_turn` False: for what belongs to a request that has its turn already, and for streams
        that last. `sending`: done just before it is sent, when its turn has come.
        """
        places = self._turns.at(way) if in_turn else None
        send = partial(self._send, way, verb, headers, body, sending)
        return Exchange(send, way, headers, places)

    async def _send(
        self,
        way: Way,
        verb: str,
        headers: Mapping[str, str],
        body: bytes | None,
        sending: Sending | None,
    ) -> aiohttp.ClientResponse:
        server = way.server
        url = self._urls.get(server.url) or self._urls.setdefault(server.url, URL(server.url))
        more = trace.headers()
        if server.identity is Identity.SIGNED:
            more = {**more, IDENTITY_HEADER: self._passports.issue(way)}
        with self._breaker.of(way):
            if sending is not None:
                sending()
            return await self._clients.of(server).request(
                verb,
                url,
                data=body,
                headers={**headers, **more} if more else headers,
                allow_redirects=False,
            )


class Exchange:
    """A request and its response; leaving it closes the response, which cancels what still runs.

    Raises a `Problem` for what is never an answer: no connection, a redirect, a refusal of our
    credentials, a failure inside the server, and no turn in time.
    """

    __slots__ = ("_headers", "_places", "_response", "_send", "_way")

    def __init__(
        self,
        send: Callable[[], Awaitable[aiohttp.ClientResponse]],
        way: Way,
        headers: Mapping[str, str],
        places: Places | None,
    ) -> None:
        self._send = send
        self._way = way
        self._headers = headers
        self._places = places
        self._response: aiohttp.ClientResponse | None = None

    async def __aenter__(self) -> aiohttp.ClientResponse:
        server = self._way.server
        if self._places is not None:
            await self._places.take(self._way.principal.subject)
        try:
            self._response = response = await self._send()
            if SESSION_HEADER in self._headers:
                with told(server):
                    await check_session(server, response)
            check_status(server, response.status)
        except BaseException:
            self._let_go()
            raise
        return response

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._let_go()

    def _let_go(self) -> None:
        response = self._response
        if response is not None:
            response.release() if response.content.at_eof() else response.close()
        if self._places is not None:
            self._places.give_back(self._way.principal.subject)
