"""What the relays are told: that something has ended or changed, and is to be looked at again."""

from services.relay.changes.alive import Watch
from services.relay.entitlements.epochs import Epochs
from shared import keys
from shared.contracts.identity import Principal
from shared.stores.kv import KeyValue


class News:
    """Listens for as long as the relay runs, and looks at the streams that are concerned."""

    def __init__(self, store: KeyValue, watch: Watch, epochs: Epochs) -> None:
        self._store = store
        self._watch = watch
        self._epochs = epochs
        epochs.heard = self._changed

    async def run(self) -> None:
        """Listen for sessions and tokens that ended, for ever."""
        async for message in self._store.hear(keys.ENDED.name):
            if message is None:
                self._watch.look()  # something may have been said while nobody listened
            else:
                self._ended(message.decode(errors="replace"))

    def _ended(self, digest: str) -> None:
        self._watch.look(lambda principal: principal.digest == digest)

    def _changed(self, who: str | None) -> None:
        def concerns(principal: Principal) -> bool:
            return self._epochs.who(principal.person.email) == who

        self._watch.look(None if who is None else concerns)
