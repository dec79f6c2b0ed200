"""Asking a policy decision point (OpenID AuthZEN, Authorization API 1.0).

Everything but a clear yes or no is no answer. What cannot be reached may be back in a moment; what
answers wrongly will not become right by waiting.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp

from services.relay.entitlements import SourceAway, SourceRefused, SourceUnavailable
from services.relay.messages import rpc
from shared import egress, ids, log
from shared.clock import Clock

T = TypeVar("T")

WELL_KNOWN = "/.well-known/authzen-configuration"
MAX_BYTES = 1024 * 1024
BATCH = 50  # what a decision point may be expected to take at once
_CONNECTIONS = 32
_METADATA_SECONDS = 300.0
_IN_A_MOMENT = frozenset({408, 425, 429})
_ALWAYS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "strad-relay"}


@dataclass(frozen=True, slots=True)
class _Endpoints:
    one: str
    many: str | None


class AuthZen:
    """One decision point. `url`: its identifier, without a slash at the end."""

    def __init__(self, url: str, headers: Mapping[str, str], seconds: int, clock: Clock) -> None:
        self._url = url
        self._headers = {**_ALWAYS, **headers}
        self._seconds = seconds
        self._clock = clock
        timeout = aiohttp.ClientTimeout(total=seconds)
        self._http = egress.client(timeout, connections=_CONNECTIONS)
        self._endpoints: tuple[float, _Endpoints] | None = None

    async def evaluate(self, question: rpc.Message, resources: Sequence[rpc.Message]) -> list[bool]:
        """The decision on each resource. `question`: subject, action and perhaps a context (§6.1).

        In batches where the metadata offers that (§7), and one by one otherwise. Raises
        `SourceUnavailable` or `SourceRefused` when any decision is missing.
        """
        try:
            async with asyncio.timeout(self._seconds):
                endpoints = await self._where()
                if endpoints.many is None:
                    one = [self._one(endpoints.one, question, each) for each in resources]
                    return await _all(one)
                starts = range(0, len(resources), BATCH)
                batches = [resources[start : start + BATCH] for start in starts]
                many = [self._many(endpoints.many, question, batch) for batch in batches]
                return [decision for batch in await _all(many) for decision in batch]
        except TimeoutError as error:
            raise SourceUnavailable(f"no answer within {self._seconds} s") from error

    async def close(self) -> None:
        """Let go of connections."""
        await self._http.close()

    async def _one(self, url: str, question: rpc.Message, resource: rpc.Message) -> bool:
        _, answer = await self._ask("POST", url, question | {"resource": resource})
        return _decision(answer)

    async def _many(
        self, url: str, question: rpc.Message, resources: Sequence[rpc.Message]
    ) -> list[bool]:
        asked = question | {"evaluations": [{"resource": each} for each in resources]}
        _, answer = await self._ask("POST", url, asked)
        found = answer.get("evaluations")
        if not isinstance(found, list) or len(found) != len(resources):
            raise SourceRefused("it did not answer each question")
        return [_decision(each) for each in found]

    async def _where(self) -> _Endpoints:
        """From its metadata (§9); the usual paths where it has none that may be used."""
        if self._endpoints is None or self._endpoints[0] <= self._clock():
            origin, path = _split(self._url)
            status, told = await self._ask("GET", f"{origin}{WELL_KNOWN}{path}", None)
            found = self._read(told) if status == 200 else None
            usual = _Endpoints(f"{self._url}/access/v1/evaluation", None)
            self._endpoints = (self._clock() + _METADATA_SECONDS, found or usual)
        return self._endpoints[1]

    def _read(self, told: rpc.Message) -> _Endpoints | None:
        one, many = told.get("access_evaluation_endpoint"), told.get("access_evaluations_endpoint")
        named = [one] if many is None else [one, many]
        if told.get("policy_decision_point") != self._url:
            problem = "it calls itself something else than its url in strad.yaml"
        elif not all(isinstance(url, str) for url in named):
            problem = "it names no endpoint"
        elif any(_split(str(url))[0] != _split(self._url)[0] for url in named):
            problem = "an endpoint is on another origin"  # the credentials stay where they belong
        else:
            return _Endpoints(str(one), many)
        log.warning("decision-point-metadata-ignored", url=self._url, problem=problem)
        return None

    async def _ask(self, verb: str, url: str, body: rpc.Message | None) -> tuple[int, rpc.Message]:
        """200 and a JSON object; or 404 without one, where nothing was asked yet."""
        headers = {**self._headers, "X-Request-ID": ids.new_id()}
        data = None if body is None else rpc.dumps(body)
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            async with self._http.request(
                verb, url, data=data, headers=headers, allow_redirects=False
            ) as response:
                if response.status == 404 and body is None:
                    return 404, {}
                _check(response.status)
                return 200, _object(await _read(response))
        except aiohttp.ClientConnectorError as error:
            raise SourceAway(f"it cannot be connected to: {type(error).__name__}") from error
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise SourceUnavailable(f"it broke off: {type(error).__name__}") from error
        except (aiohttp.ClientError, ValueError) as error:
            raise SourceRefused("its answer is not HTTP that can be read") from error


async def _all(asked: list[Coroutine[Any, Any, T]]) -> list[T]:
    """All of them; when one fails, the others are not left at work."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in asked]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for part in response.content.iter_any():
        body += part
        if len(body) > MAX_BYTES:
            raise SourceRefused(f"its answer is larger than {MAX_BYTES // 1024} KiB")
    return bytes(body)


def _check(status: int) -> None:
    if status >= 500 or status in _IN_A_MOMENT:
        raise SourceUnavailable(f"it answered HTTP {status}")
    if status != 200:  # a redirect among them: it could lead the credentials anywhere
        raise SourceRefused(f"it answered HTTP {status}")


def _object(raw: bytes) -> rpc.Message:
    try:
        value: Any = rpc.loads_once(raw)  # §11.5: a decision that is given twice is none
    except rpc.Unreadable as error:
        raise SourceRefused("its answer is not JSON") from error
    if not isinstance(value, dict):
        raise SourceRefused("its answer is not a JSON object")
    return value


def _decision(answer: Any) -> bool:
    """§5.5: a boolean, and nothing that merely looks like one."""
    decision = answer.get("decision") if isinstance(answer, dict) else None
    if not isinstance(decision, bool):
        raise SourceRefused("it answered without a decision")
    return decision


def _split(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower(), parts.path
