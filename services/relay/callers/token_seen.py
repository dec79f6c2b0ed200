"""When a token was last used, and by whom as far as that can be told: for its owner's eyes."""

import contextlib
import re
from collections.abc import Sequence

from aiohttp import web

from shared import keys
from shared.clock import Clock
from shared.contracts.identity import Token, TokenUse
from shared.signing import Seal
from shared.stores.kv import KeyValue, StoreUnavailable
from shared.web.address import Network, client_address

SEEN_EVERY_SECONDS = 60
_MAX_CLIENT = 60
_NOT_SHOWN = re.compile(r"[^A-Za-z0-9 ._/()+-]")


class TokenSeen:
    """Notes a use at most once a minute; a note that fails is left out."""

    def __init__(
        self, store: KeyValue, seal: Seal, clock: Clock, proxies: Sequence[Network]
    ) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._proxies = proxies
        self._noted: dict[str, float] = {}

    async def note(self, digest: str, token: Token, request: web.Request) -> None:
        """The token was used now, by this client (its own word) from this address."""
        now = self._clock()
        if now - self._noted.get(digest, 0.0) < SEEN_EVERY_SECONDS:
            return
        self._noted = {d: t for d, t in self._noted.items() if now - t < SEEN_EVERY_SECONDS}
        self._noted[digest] = now
        seconds = max(1, token.expires - int(now))
        client = _NOT_SHOWN.sub("", request.headers.get("User-Agent", ""))[:_MAX_CLIENT].strip()
        use = TokenUse(client=client, address=client_address(request, self._proxies))
        with contextlib.suppress(StoreUnavailable):
            await self._store.put(keys.TOKEN_SEEN.key(digest), str(int(now)).encode(), seconds)
            key = keys.TOKEN_USE.key(digest)
            sealed = self._seal.seal(key, use.model_dump(), token.expires)  # an address is personal
            await self._store.put(key, sealed, seconds)
