"""Requests of this server to the OpenID provider: short, small, no redirects, JSON objects only."""

import json
from collections.abc import Mapping
from typing import Any

import aiohttp

from services.auth.refusals import Reason, Refused

TIMEOUT_SECONDS = 10.0
MAX_BYTES = 1024 * 1024
_ACCEPT = {"Accept": "application/json"}


class BackChannel:
    """Talks to one provider. Every method raises `Refused` (provider-down, provider-unusable)."""

    def __init__(self, http: aiohttp.ClientSession) -> None:
        """`http`: from `shared.egress.client`, whose timeout bounds every request as a whole."""
        self._http = http

    async def get(self, url: str) -> dict[str, Any]:
        """A JSON object by GET; any answer but 200 is a failure."""
        status, answer = await self._ask("GET", url, _ACCEPT, None)
        if status != 200:
            raise Refused(Reason.PROVIDER_DOWN, f"status {status}")
        return answer

    async def post(
        self, url: str, form: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        """Status (200 or 4xx) and JSON object of a posted form."""
        return await self._ask("POST", url, {**_ACCEPT, **headers}, form)

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], form: Mapping[str, str] | None
    ) -> tuple[int, dict[str, Any]]:
        try:
            async with self._http.request(
                method, url, headers=headers, data=form, allow_redirects=False
            ) as response:
                refused = 400 <= response.status < 500 and response.status != 429
                if response.status != 200 and not refused:
                    # a redirect among them: it could lead a secret anywhere
                    raise Refused(Reason.PROVIDER_DOWN, f"status {response.status}")
                body = await _read(response)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Refused(Reason.PROVIDER_DOWN, type(error).__name__) from error
        return response.status, _object(body)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BYTES:
            raise Refused(Reason.PROVIDER_UNUSABLE, f"an answer of more than {MAX_BYTES} bytes")
    return bytes(body)


def _object(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise Refused(Reason.PROVIDER_UNUSABLE, "an answer that is not a JSON object")
    return answer
