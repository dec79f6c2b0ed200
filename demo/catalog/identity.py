"""Who calls, from the one header that says so: a token of strad's relay.

`Strad-Identity` is a signed JWT (RFC 7519): `iss` strad's public URL, `sub` and `email` the person,
`aud` this server's URL, at most 60 seconds between `iat` and `exp`, and a `jti`. The public keys
are at the relay's JWKS address. Any other header about a person is noise: anyone can write one.
"""

import asyncio
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError, SecurityWarning
from joserfc.jwk import KeySet

HEADER = "strad-identity"
# Asymmetric only: a symmetric one would accept a token "signed" with the public key.
ALGORITHMS = ["EdDSA", "Ed25519", "ES256"]
LONGEST_LIFE = 60
LEEWAY = 5
KEYS_FRESH = 300
KEYS_PAUSE = 10
KEYS_BYTES = 65536


@dataclass(frozen=True)
class Caller:
    """`subject` is stable and owns what is held; `email`, casefolded or "", finds the account."""

    subject: str
    email: str


class IdentityRefused(Exception):
    """The header is not a valid identity for this server; the text says why."""


class KeysUnavailable(Exception):
    """The relay's keys cannot be read, so nothing can be checked now."""


class RelayKeys:
    """The relay's public keys: kept for five minutes, and asked for at most every ten seconds.

    The second limit matters: anyone can send tokens with invented key ids, and each would
    otherwise send this server to the relay.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        self._url, self._clock = url, clock
        self._lock = asyncio.Lock()
        self._keys: KeySet | None = None
        self._read = self._tried = float("-inf")

    async def current(self, *, newer: bool = False) -> KeySet:
        """The keys, fetched when too old or when `newer` ones are wished for.

        Raises KeysUnavailable when there are none; old ones outlive a failing fetch.
        """
        async with self._lock:
            now = self._clock()
            stale = newer or now - self._read >= KEYS_FRESH
            if stale and now - self._tried >= KEYS_PAUSE:
                self._tried = now
                try:
                    self._keys, self._read = await self._fetch(), now
                except (aiohttp.ClientError, TimeoutError, ValueError, JoseError) as error:
                    if self._keys is None:
                        raise KeysUnavailable(f"{self._url} cannot be read") from error
            if self._keys is None:
                raise KeysUnavailable(f"{self._url} could not be read a moment ago")
            return self._keys

    async def _fetch(self) -> KeySet:
        timeout = aiohttp.ClientTimeout(total=3)
        async with (
            aiohttp.ClientSession(timeout=timeout, trust_env=False) as http,
            http.get(self._url, allow_redirects=False) as response,
        ):
            body = await response.content.read(KEYS_BYTES)
            if response.status != 200 or not response.content.at_eof():
                raise ValueError("not a key set")
            return KeySet.import_key_set(json.loads(body))


class IdentityCheck:
    """Checks one header value. `audience` is this server's URL; `issuer` None accepts any."""

    def __init__(
        self,
        keys: RelayKeys,
        audience: str,
        issuer: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._keys, self._audience, self._issuer, self._clock = keys, audience, issuer, clock

    async def caller(self, token: str) -> Caller:
        """Raises IdentityRefused and KeysUnavailable."""
        claims = await self._signed(token)
        problem = self._problem(claims)
        if problem:
            raise IdentityRefused(problem)
        email = claims.get("email")
        known = email.casefold() if isinstance(email, str) else ""
        return Caller(subject=claims["sub"], email=known)

    async def _signed(self, token: str) -> dict[str, Any]:
        try:
            return _decode(token, await self._keys.current())
        except InvalidKeyIdError:
            keys = await self._keys.current(newer=True)
        except (JoseError, ValueError) as error:
            raise IdentityRefused("not signed by the relay") from error
        try:
            return _decode(token, keys)
        except (JoseError, ValueError) as error:
            raise IdentityRefused("not signed by a key of the relay") from error

    def _problem(self, claims: dict[str, Any]) -> str | None:
        issued, ends, now = claims.get("iat"), claims.get("exp"), self._clock()
        if not isinstance(issued, int) or not isinstance(ends, int):
            return "iat and exp are missing"
        if ends - issued > LONGEST_LIFE:
            return f"valid for more than {LONGEST_LIFE} seconds"
        if not issued - LEEWAY <= now < ends + LEEWAY:
            return "expired, or not valid yet"
        if claims.get("aud") not in (self._audience, [self._audience]):
            return f"meant for another server than {self._audience}"
        if self._issuer is not None and claims.get("iss") != self._issuer:
            return f"issued by another strad than {self._issuer}"
        if not all(isinstance(claims.get(name), str) and claims[name] for name in ("sub", "jti")):
            return "sub and jti are missing"
        return None


def _decode(token: str, keys: KeySet) -> dict[str, Any]:
    with warnings.catch_warnings():
        # RFC 9864 renamed EdDSA to Ed25519; both names mean the same signature here.
        warnings.simplefilter("ignore", SecurityWarning)
        return jwt.decode(token, keys, algorithms=ALGORITHMS).claims
