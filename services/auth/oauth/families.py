"""The name of its family in a refresh token, so that used ones need not be kept to be known.

A refresh token that was used has to be known for as long as its client may stay away: who brings it
then is one of two who had it. Kept for that, one of each ten minutes, they would fill Redis. So a
token names what it was given out for, under a mark that only auth can make. One that names a family
which still lives, and that is not kept itself, was used before.
"""

import hmac

from services.auth.oauth.records import REPLAY_SECONDS
from services.auth.oauth.store import OAuthStore
from shared.signing import Seal
from shared.stores.kv import KeyValue

_MARK_CHARS = 22  # 132 bits: the name alone stands in the trail, and must end nothing


class Families:
    """Names and knows. `forget` may raise `StoreUnavailable`."""

    def __init__(self, kept: OAuthStore, store: KeyValue, seal: Seal) -> None:
        self._kept = kept
        self._store = store
        self._seal = seal

    def named(self, token: str, allowed_id: str) -> str:
        """A new refresh token of this family."""
        return f"{token}.{allowed_id}.{self._mark(token, allowed_id)}"

    def family_of(self, text: str) -> str | None:
        """The family that a refresh token of ours names."""
        token, _, rest = text.partition(".")
        allowed_id, _, mark = rest.partition(".")
        good = hmac.compare_digest(mark.encode(), self._mark(token, allowed_id).encode())
        return allowed_id if good else None

    async def forget(self, token: str, mark: bytes) -> None:
        """A token that was used, and its answer kept: from now on its name has to do."""
        if self.family_of(token) is None:
            return  # of a version before: known only as long as it is kept
        # the record first: with the mark alone it could be used once more when that ends
        await self._store.remove(self._kept.refresh_key(token))
        await self._store.put(self._kept.used_key(token), mark, REPLAY_SECONDS)

    def _mark(self, token: str, allowed_id: str) -> str:
        return self._seal.digest("refresh-family", f"{token}\0{allowed_id}")[:_MARK_CHARS]
