"""Codes and access tokens, in memory: a restart ends every unfinished sign-in."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from demo.provider.people import Person

CODE_SECONDS = 60
ACCESS_SECONDS = 300


@dataclass(frozen=True)
class Grant:
    """What one code stands for. `auth_time` is in seconds since 1970."""

    person: Person
    client_id: str
    redirect_uri: str
    challenge: str
    nonce: str
    scope: str
    auth_time: int


class CodeRefused(Exception):
    """The code is unknown, spent or too old; the text says which."""


class Ledger:
    """Issues codes and redeems each of them once."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._codes: dict[str, tuple[Grant, float]] = {}
        self._spent: dict[str, tuple[str, float]] = {}
        self._access: dict[str, tuple[Grant, float]] = {}

    def issue(self, grant: Grant) -> str:
        self._forget_the_old()
        code = secrets.token_urlsafe(32)
        self._codes[code] = (grant, self._clock() + CODE_SECONDS)
        return code

    def redeem(self, code: str) -> tuple[Grant, str]:
        """The grant and a new access token. The code is spent whatever the caller does next.

        Raises CodeRefused. A code that comes back a second time has leaked, so the access token
        of its first use is revoked (RFC 6749 §4.1.2).
        """
        self._forget_the_old()
        if code in self._spent:
            self._access.pop(self._spent[code][0], None)
            raise CodeRefused("this code was used before")
        found = self._codes.pop(code, None)
        if found is None:
            raise CodeRefused(f"unknown code, or older than {CODE_SECONDS} seconds")
        access, until = secrets.token_urlsafe(32), self._clock() + ACCESS_SECONDS
        self._spent[code] = (access, until)
        self._access[access] = (found[0], until)
        return found[0], access

    def bearer(self, access: str) -> Grant | None:
        self._forget_the_old()
        found = self._access.get(access)
        return found[0] if found else None

    def _forget_the_old(self) -> None:
        now = self._clock()
        for table in (self._codes, self._spent, self._access):
            for key in [key for key, (_, until) in table.items() if until <= now]:
                del table[key]
