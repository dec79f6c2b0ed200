"""What the replicas of the relay tell each other at once, and this one itself.

Only what may get lost: a replica that hears nothing for a moment must still be right, if later.
"""

import contextlib
from collections.abc import Callable

from services.relay.messages import rpc
from shared import ids, keys, log
from shared.stores.kv import KeyValue

Do = Callable[[rpc.Message], None]
CHANNEL = keys.BETWEEN_RELAYS.name
MISSED = "missed"
"""Not told by anybody: something may have been, while nobody here could hear it."""


class Between:
    """Tells every replica, and does here what any of them says."""

    def __init__(self, store: KeyValue) -> None:
        self._store = store
        self._name = ids.new_id()
        self._do: dict[str, Do] = {}
        self._back: dict[str, Do] = {}

    def on(self, kind: str, do: Do, back: Do | None = None) -> None:
        """What is done, in each replica, when one tells this.

        `back`: what else is done here when a word of our own comes back. All hear all words in one
        order: what comes before it was told before it, and what comes after it later.
        """
        self._do[kind] = do
        if back is not None:
            self._back[kind] = back

    async def tell(self, kind: str, **what: rpc.Id) -> None:
        """Here it is done at once. Raises `StoreUnavailable` when the others cannot be told."""
        self._do[kind](what)
        told = {"kind": kind, "by": self._name, "what": what}
        await self._store.publish(CHANNEL, rpc.dumps(told))

    async def run(self) -> None:
        """Hear the others for as long as the relay runs."""
        async with contextlib.aclosing(self._store.hear(CHANNEL)) as messages:
            async for message in messages:
                if message is not None:
                    self._hear(message)
                elif MISSED in self._do:
                    self._do[MISSED]({})

    def _hear(self, raw: bytes) -> None:
        try:
            told = rpc.loads(raw)
            do = self._back if told["by"] == self._name else self._do
            if told["kind"] in do:
                do[told["kind"]](told["what"])
        except (rpc.Unreadable, KeyError, TypeError):
            # a replica of another version beside us: neither may silence the other
            log.warning("between-unreadable")
