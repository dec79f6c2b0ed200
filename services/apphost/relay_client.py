"""The relay's internal API: every question and every action goes through it.

Each request carries a new assertion about one session and one server. The relay reads the session
again and decides itself; what it refuses comes back here as the same named `Problem`.
"""

from collections.abc import Mapping
from typing import Any

import aiohttp
from joserfc.jwk import ECKey
from pydantic import ValidationError

from services.apphost.relay_answers import (
    ServerEntry,
    Servers,
    parse,
    problem_in,
    read,
    unavailable,
    unreadable,
)
from services.apphost.relay_lines import Told, outcome
from shared import ids, numbers
from shared.clock import Clock, system_clock
from shared.contracts.identity import Assertion, Principal
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import (
    ASSERTION_HEADER,
    INTERNAL_RPC_PATH,
    INTERNAL_SERVERS_PATH,
    Service,
    Surface,
)
from shared.signing import ASSERTION_SECONDS, sign_assertion
from shared.web.lines import LINES_TYPE

LIST_SECONDS = 10.0
READ_SECONDS = 20
SPARE_SECONDS = 5  # what a call may take beyond the server's own timeout


class RpcError(Exception):
    """The server, or the relay for it, answered with a JSON-RPC error. `error` goes on whole."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(str(error.get("message", "")))
        self.error = error


class RelayClient:
    """Asks the relay for one person. All methods may raise `Problem`."""

    def __init__(
        self, http: aiohttp.ClientSession, url: str, key: ECKey, clock: Clock = system_clock
    ) -> None:
        self._http = http
        self._url = url
        self._key = key
        self._clock = clock

    async def servers(self, principal: Principal) -> tuple[ServerEntry, ...]:
        """The servers this person may use, in the operator's order, with state and pages."""
        wait = aiohttp.ClientTimeout(total=LIST_SECONDS, sock_connect=2)
        answer = await self._ask("GET", INTERNAL_SERVERS_PATH, principal, None, None, wait)
        try:
            return Servers.model_validate(answer).servers
        except ValidationError as error:
            raise unreadable() from error

    async def rpc(
        self,
        principal: Principal,
        slug: str,
        method: str,
        params: Mapping[str, Any],
        *,
        surface: Surface = Surface.CONSOLE,
        page: str | None = None,
        seconds: float = READ_SECONDS,
        longest: float | None = None,
        told: Told | None = None,
    ) -> dict[str, Any]:
        """One MCP request to one server; its `result`. Raises `RpcError` for a JSON-RPC error.

        `surface` and `page` say for whom: the relay accepts a host's own call only for the tool
        that declares this page. `told` hears of a call's progress; each time it may take `seconds`
        again, up to `longest` in all. Whoever stops waiting here cancels the call at its server.
        """
        path = INTERNAL_RPC_PATH.format(slug=slug)
        body = {"method": method, "params": params, "surface": surface.value, "page": page}
        wait = aiohttp.ClientTimeout(total=longest or seconds, sock_read=seconds, sock_connect=2)
        answer = await self._ask("POST", path, principal, slug, body, wait, told)
        if isinstance(error := answer.get("error"), dict):
            raise RpcError(error)
        if not isinstance(result := answer.get("result"), dict):
            raise unreadable()
        return result

    async def _ask(
        self,
        method: str,
        path: str,
        principal: Principal,
        slug: str | None,
        body: object,
        wait: aiohttp.ClientTimeout,
        told: Told | None = None,
    ) -> dict[str, Any]:
        headers = {ASSERTION_HEADER: self._assertion(principal, slug)}
        data = None if body is None else numbers.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        if told is not None:
            headers["Accept"] = LINES_TYPE
        try:
            async with self._http.request(
                method,
                self._url + path,
                data=data,
                headers=headers,
                allow_redirects=False,
                timeout=wait,
            ) as response:
                status = response.status
                if told is not None and response.content_type == LINES_TYPE:
                    answer = await outcome(response, told)
                else:
                    answer = parse(await read(response))
        except aiohttp.ConnectionTimeoutError as error:
            raise unavailable("no-connection") from error
        except TimeoutError as error:
            title = "The server did not answer in time."
            advice = "It may be busy. Try again in a moment."
            raise Problem(ProblemKind.UPSTREAM_TIMEOUT, title, advice, "deadline") from error
        except (aiohttp.ClientError, OSError) as error:
            raise unavailable(type(error).__name__) from error
        if isinstance(problem := answer.get("problem"), dict):
            raise problem_in(status, problem, slug)
        if status != 200:
            raise problem_in(status, answer, slug)
        return answer

    def _assertion(self, principal: Principal, slug: str | None) -> str:
        assertion = Assertion(
            caller=Service.APPHOST,
            audience=Service.RELAY,
            subject=principal.subject,
            session=principal.digest,
            slug=slug,
            id=ids.new_id(),
            expires=int(self._clock()) + ASSERTION_SECONDS,
        )
        return sign_assertion(assertion, self._key)
