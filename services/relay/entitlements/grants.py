"""Grants, kept in Redis for seconds so that every replica and every request agrees.

Sealed with the relay's own key under the person's own key: a writer to Redis can neither make a
grant, nor move one to another person, nor stretch its end, which is inside. An empty grant is kept
like any other. Redis away means `StoreUnavailable`, and never "allowed".
"""

from services.relay.entitlements import Source
from shared import keys
from shared.clock import Clock
from shared.contracts.access import Grant
from shared.contracts.identity import Person
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue


class Grants:
    """The grants of people, asked from the source at most once in `seconds` a person."""

    def __init__(
        self, source: Source, store: KeyValue, seal: Seal, clock: Clock, seconds: int
    ) -> None:
        self._source = source
        self._store = store
        self._seal = seal
        self._clock = clock
        self._seconds = seconds

    async def of(self, person: Person) -> Grant:
        """What this person may use now. May raise `StoreUnavailable`."""
        key = keys.GRANT.key(person.subject)
        kept = self._open(key, await self._store.get(key), person)
        if kept is not None:
            return kept
        servers = await self._source.servers_of(person)
        record = {"email": person.email, "servers": sorted(servers)}
        sealed = self._seal.seal(key, record, self._clock() + self._seconds)
        await self._store.put(key, sealed, self._seconds)
        return Grant(subject=person.subject, servers=servers)

    def _open(self, key: str, sealed: bytes | None, person: Person) -> Grant | None:
        if sealed is None:
            return None
        try:
            record = self._seal.open(key, sealed, self._clock())
        except SealBroken:
            return None
        if record["email"] != person.email:
            return None  # entitlements are written by address, and this one is new
        return Grant(subject=person.subject, servers=frozenset(record["servers"]))
