"""A refresh token that comes again at once, because its answer was lost on the way.

To take every second use for theft (RFC 9700 §4.14.2) would end a client whose connection broke, or
two processes of one client that share a token. So for half a minute the same token gets the same
answer again, and only while nobody has used anything of it: there is never a second branch, and of
a thief and a client with the same answer, the second to use it is still found out.

The answer lies in the mark that the token was used, so that whoever claims it writes both in one
step. It is sealed with the token itself, which is stored nowhere, and then like every record: the
store alone shows no token, and neither does the store with the key of the seal.
"""

import base64
import binascii
from typing import Any

from services.auth.oauth.store import OAuthStore
from shared import keys
from shared.clock import Clock
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue

AGAIN_SECONDS = 30


class Again:
    """May raise `StoreUnavailable`."""

    def __init__(self, kept: OAuthStore, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._kept = kept
        self._store = store
        self._seal = seal
        self._clock = clock

    def mark(self, refresh: str, answer: dict[str, Any]) -> bytes:
        """What to claim a refresh token with."""
        key, end = self._kept.used_key(refresh), self._clock() + AGAIN_SECONDS
        inside = base64.b64encode(_of(refresh).seal(key, answer, end)).decode()
        return self._seal.seal(key, {"answer": inside}, end)

    async def answer(self, refresh: str) -> dict[str, Any] | None:
        """The answer that was given for a token, while it may still be given again."""
        key, now = self._kept.used_key(refresh), self._clock()
        mark = await self._store.get(key)
        try:
            inside = self._seal.open(key, mark or b"", now)["answer"]
            answer = _of(refresh).open(key, base64.b64decode(inside), now)
        except (SealBroken, KeyError, TypeError, binascii.Error):
            return None
        return None if await self._in_use(answer) else answer

    async def _in_use(self, answer: dict[str, Any]) -> bool:
        access = self._seal.digest("token", answer["access_token"])
        # the relay notes a token's first use before it does anything for it
        places = [self._kept.used_key(answer["refresh_token"]), keys.TOKEN_SEEN.key(access)]
        return any(found is not None for found in await self._store.get_many(places))


def _of(token: str) -> Seal:
    return Seal([token.encode()], token.encode())
