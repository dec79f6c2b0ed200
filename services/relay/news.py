"""What auth tells the relays: that something has ended, and is to be looked at again."""

from services.relay.alive import Watch
from shared import keys
from shared.stores.kv import KeyValue


class News:
    """Listens for as long as the relay runs."""

    def __init__(self, store: KeyValue, watch: Watch) -> None:
        self._store = store
        self._watch = watch

    async def run(self) -> None:
        """Listen for ever."""
        async for message in self._store.hear(keys.ENDED.name):
            # None: something may have been said while nobody listened
            digest = None if message is None else message.decode(errors="replace")
            self._watch.look(digest=digest)
