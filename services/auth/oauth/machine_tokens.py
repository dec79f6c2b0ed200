"""Access tokens of machines: records like all others, and no family stands behind them."""

from shared import keys
from shared.clock import Clock
from shared.contracts.identity import Token
from shared.signing import Seal
from shared.stores.kv import KeyValue
from shared.stores.sessions import tell_ended
from shared.stores.tokens import TokenReader


class MachineTokens:
    """All methods may raise `StoreUnavailable`."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._tokens = TokenReader(store, seal, clock)

    async def give(self, record: Token, text: str) -> None:
        """Keep a new token."""
        key = keys.TOKEN.key(self._tokens.digest(text))
        sealed = self._seal.seal(key, record.model_dump(mode="json"), record.expires)
        await self._store.put(key, sealed, max(1, record.expires - int(self._clock())))

    async def take_back(self, text: str) -> None:
        """End one, on every replica from the next request on."""
        digest = self._tokens.digest(text)
        await self._store.remove(keys.TOKEN.key(digest))
        await tell_ended(self._store, digest)
