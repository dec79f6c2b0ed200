"""A source that says what it is told to, and replicas that ask it, over one store and one clock."""

import asyncio
from typing import Any

from services.relay.entitlements.epochs import Epochs
from services.relay.entitlements.grants import Grants
from shared.contracts.entitlements import Entitlements
from shared.contracts.identity import Person
from shared.signing import Seal
from shared.stores.memory import MemoryKeyValue

ADA = Person(issuer="i", sub="ada", email="ada@strad.test", name="Ada")
BOB = Person(issuer="i", sub="bob", email="bob@strad.test", name="Bob")
KEY = b"g" * 32


class Source:
    """Counts how often it is asked. `hold`: answers wait for it, with what was true when asked."""

    remote = True

    def __init__(self, *servers: str) -> None:
        self.version = "1"
        self.servers = frozenset(servers)
        self.asked = 0
        self.broken: Exception | None = None
        self.hold: asyncio.Event | None = None
        self.entered = asyncio.Event()

    async def servers_of(self, person: Person) -> frozenset[str]:
        self.asked += 1
        broken, answer = self.broken, self.servers if person.email == ADA.email else frozenset()
        self.entered.set()
        if self.hold is not None:
            await self.hold.wait()
        if broken is not None:
            raise broken
        return answer


class Town:
    """Replicas over one store, and the time."""

    def __init__(self, source: Any, **rules: Any) -> None:
        self.now = 1000.0
        self.store = MemoryKeyValue(self.clock)
        self.source = source
        self.rules = Entitlements.model_validate({"keep": 5, "keep_denied": 2} | rules)

    def clock(self) -> float:
        return self.now

    def replica(self, store: Any = None, key: bytes = KEY) -> tuple[Grants, Epochs]:
        """One more. `epochs` hears nothing of itself: it reads the count."""
        kept = self.store if store is None else store
        seal = Seal([key], b"i" * 32)
        epochs = Epochs(kept, seal, self.clock)
        return Grants(self.source, kept, seal, epochs, self.clock, self.rules), epochs

    def grants(self) -> Grants:
        return self.replica()[0]
