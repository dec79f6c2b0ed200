"""Which clients are known: those that registered, and those that have a document."""

import re

from services.auth.oauth.description import Undescribed
from services.auth.oauth.documents import Documents, is_address
from services.auth.oauth.records import Client
from services.auth.oauth.registered import Registered
from services.auth.oauth.server import Loaded

_OURS = re.compile(r"[A-Za-z0-9_-]{16,64}")


class Known:
    """Finds clients. Methods may raise `StoreUnavailable`."""

    def __init__(self, registered: Registered, documents: Documents | None) -> None:
        self.registered = registered
        self._documents = documents

    async def find(self, client_id: str) -> Client:
        """The client of an authorization request. Raises `Undescribed`."""
        if self._documents is not None and is_address(client_id):
            return await self._documents.client(client_id)
        found = await self._registered(client_id)
        if found is None:
            text = "This client is not known here, or not any more. It has to register again."
            raise Undescribed("invalid_client", text)
        return found

    async def at_token_endpoint(self, client_id: str, loaded: Loaded) -> Client | None:
        """The client that brings a code or token, as it was when the person allowed it.

        Nothing is fetched: strangers can ask here.
        """
        for record in (loaded.code, loaded.allowed):
            if record is not None and record.client.id == client_id:
                return record.client
        if is_address(client_id):
            return Client(id=client_id, name="", redirect_uris=(), refreshes=True, document=True)
        return await self._registered(client_id)

    async def _registered(self, client_id: str) -> Client | None:
        return await self.registered.find(client_id) if _OURS.fullmatch(client_id) else None
