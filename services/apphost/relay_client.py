"""The relay's internal API: every question and every action goes through it.

Each request carries a new assertion about one session and one server. The relay reads the session
again and decides itself; what it refuses comes back here as the same named `Problem`.
"""

import json
from collections.abc import Mapping
from typing import Any

import aiohttp
from joserfc.jwk import ECKey
from pydantic import BaseModel, ConfigDict, ValidationError

from shared import ids
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

LIST_SECONDS = 10.0
READ_SECONDS = 20.0
SPARE_SECONDS = 5.0  # what a call may take beyond the server's own timeout
MAX_ANSWER = 24 * 1024 * 1024  # a page of the largest size as base64 in JSON, with room
_PROBLEM_TYPE = "urn:strad:problem:"


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class AppEntry(_Answer):
    """One page of a server: its `ui://` address and the tool that opens it, if any."""

    uri: str
    tool: str | None
    title: str
    read_only: bool


class ServerEntry(_Answer):
    """One server that the person may use. `reason`: a problem's kind when it is unavailable."""

    slug: str
    name: str
    description: str
    origin: str
    state: str
    reason: str | None
    detail: str | None
    apps: tuple[AppEntry, ...]
    tools: int


class _Servers(_Answer):
    servers: tuple[ServerEntry, ...]


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
        answer = await self._ask("GET", INTERNAL_SERVERS_PATH, principal, None, None, LIST_SECONDS)
        try:
            return _Servers.model_validate(answer).servers
        except ValidationError as error:
            raise _unreadable() from error

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
    ) -> dict[str, Any]:
        """One MCP request to one server; its `result`. Raises `RpcError` for a JSON-RPC error.

        `surface` and `page` say for whom: the relay accepts a host's own call only for the tool
        that declares this page.
        """
        path = INTERNAL_RPC_PATH.format(slug=slug)
        body = {"method": method, "params": params, "surface": surface.value, "page": page}
        answer = await self._ask("POST", path, principal, slug, body, seconds)
        if isinstance(error := answer.get("error"), dict):
            raise RpcError(error)
        if not isinstance(result := answer.get("result"), dict):
            raise _unreadable()
        return result

    async def _ask(
        self,
        method: str,
        path: str,
        principal: Principal,
        slug: str | None,
        body: object,
        seconds: float,
    ) -> dict[str, Any]:
        try:
            async with self._http.request(
                method,
                self._url + path,
                json=body,
                headers={ASSERTION_HEADER: self._assertion(principal, slug)},
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=2),
            ) as response:
                text = await _read(response)
                status = response.status
        except aiohttp.ConnectionTimeoutError as error:
            raise _unavailable("no-connection") from error
        except TimeoutError as error:
            title = "The server did not answer in time."
            advice = "It may be busy. Try again in a moment."
            raise Problem(ProblemKind.UPSTREAM_TIMEOUT, title, advice, "deadline") from error
        except (aiohttp.ClientError, OSError) as error:
            raise _unavailable(type(error).__name__) from error
        answer = _parse(text)
        if status != 200:
            raise _problem(status, answer, slug)
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


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_ANSWER:
            title = "The server's answer is too large."
            raise Problem(ProblemKind.UPSTREAM_TOO_LARGE, title, "Ask for less at once.")
    return bytes(body)


def _parse(text: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable() from error
    if not isinstance(answer, dict):
        raise _unreadable()
    return answer


def no_such_server(slug: str) -> Problem:
    """The one answer for an unknown server and for one that this person may not use."""
    advice = (
        f"There is no server called “{slug[:40]}”, or you have no access to it. If you expected"
        " to see it, ask the person who runs strad here."
    )
    return Problem(ProblemKind.NOT_FOUND, "No app here for you.", advice, "no-server")


def _problem(status: int, answer: dict[str, Any], slug: str | None) -> Problem:
    """The relay's problem+json (RFC 9457) as the `Problem` it was."""
    name = str(answer.get("type", "")).removeprefix(_PROBLEM_TYPE)
    title = answer.get("title")
    if name not in set(ProblemKind) or not isinstance(title, str):
        return _unavailable(f"status-{status}")
    kind = ProblemKind(name)
    if kind is ProblemKind.NOT_FOUND and slug is not None:
        return no_such_server(slug)
    if kind in {ProblemKind.INTERNAL, ProblemKind.METHOD, ProblemKind.WRONG_HOST}:
        return _unavailable(name)  # a fault between our own services, not the reader's
    return Problem(kind, title, str(answer.get("detail") or ""), "relay")


def _unavailable(reason: str) -> Problem:
    title = "The service that reaches the servers does not answer."
    advice = "Nothing was run. Try again in a moment; tell an administrator if it stays so."
    return Problem(ProblemKind.RELAY_UNAVAILABLE, title, advice, reason)


def _unreadable() -> Problem:
    return _unavailable("unreadable-answer")
