"""Clients that have registered themselves: so many that nobody uses yet, and all that are in use.

Anybody may register, as often as addresses can be had. So those that no person has allowed anything
share a number of places: one more takes the place of the oldest.
"""

from pydantic import ValidationError

from services.auth.oauth.records import Client
from services.auth.oauth.store import UNUSED_CLIENT_SECONDS, OAuthStore
from shared import ids, keys
from shared.clock import Clock
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue

MOST_UNUSED = 10_000


class Registered:
    """May raise `StoreUnavailable`."""

    def __init__(self, kept: OAuthStore, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._kept = kept
        self._store = store
        self._seal = seal
        self._clock = clock

    async def new_id(self) -> str:
        """The id of a new client, with its place in it."""
        number = await self._store.count(keys.OAUTH.key("registered"), UNUSED_CLIENT_SECONDS)
        return f"{number % MOST_UNUSED}-{ids.new_id()}"

    async def keep(self, client: Client) -> None:
        """Keep a new client for a day. `OAuthStore` keeps it as long as it is used."""
        key = self._place(client.id)
        sealed = self._seal.seal(key, client.model_dump(), self._clock() + UNUSED_CLIENT_SECONDS)
        await self._store.put(key, sealed, UNUSED_CLIENT_SECONDS)

    async def find(self, client_id: str) -> Client | None:
        """A client by its id."""
        return await self._kept.client(client_id) or await self._unused(client_id)

    async def _unused(self, client_id: str) -> Client | None:
        key = self._place(client_id)
        sealed = await self._store.get(key)
        try:
            client = Client.model_validate(self._seal.open(key, sealed or b"", self._clock()))
        except (SealBroken, ValidationError):
            return None
        return client if client.id == client_id else None

    @staticmethod
    def _place(client_id: str) -> str:
        number = client_id.partition("-")[0]
        return keys.OAUTH.key("slot", number if number.isdigit() else "none")
