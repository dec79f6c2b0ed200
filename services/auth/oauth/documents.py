"""Client ID metadata documents: a client's id is the https address of what describes it.

draft-ietf-oauth-client-id-metadata-document. A stranger writes the address, so what is fetched is
small, quick, never redirected, and on the public internet only: the address that is connected to is
checked, whatever name led there. Only for somebody who is signed in, and kept for a while.
"""

import json
from collections import OrderedDict
from urllib.parse import urlsplit

import aiohttp

from services.auth.oauth import description
from services.auth.oauth.description import Undescribed
from services.auth.oauth.records import Client
from shared import egress
from shared.clock import Clock

MAX_BYTES = 5 * 1024
SECONDS = 5.0
KEPT_SECONDS = 600
FAILED_SECONDS = 10
_MOST_KEPT = 1000
_MOST_LETTERS = 300
_NO_SECRET = (None, "none")

Found = Client | Undescribed


def outside() -> aiohttp.ClientSession:
    """What fetches them."""
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    return egress.client(timeout, connections=10, check=egress.check_public)


def is_address(client_id: str) -> bool:
    """Whether a client id is the address of a document: https, with a path, in its plain form."""
    parts = urlsplit(client_id) if client_id.startswith("https://") else None
    if parts is None or len(client_id) > _MOST_LETTERS or parts.path in {"", "/"}:
        return False
    plain = f"https://{parts.netloc}{parts.path}" == client_id and "@" not in parts.netloc
    dots = {".", "..", "%2e", "%2e%2e", ".%2e", "%2e."}
    return plain and dots.isdisjoint(parts.path.lower().split("/"))


class Documents:
    """Fetches and keeps."""

    def __init__(self, http: aiohttp.ClientSession, clock: Clock) -> None:
        self._http = http
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Found]] = OrderedDict()

    async def client(self, client_id: str) -> Client:
        """The client behind an address. Raises `Undescribed`."""
        end, found = self._kept.get(client_id, (0.0, None))
        if found is None or end <= self._clock():
            found = await self._fetched(client_id)
            life = FAILED_SECONDS if isinstance(found, Undescribed) else KEPT_SECONDS
            self._kept[client_id] = (self._clock() + life, found)
            self._kept.move_to_end(client_id)
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        if isinstance(found, Undescribed):
            raise Undescribed(found.error, str(found))
        return found

    async def _fetched(self, client_id: str) -> Found:
        try:
            return _read(client_id, await self._get(client_id))
        except Undescribed as error:
            return error
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, RecursionError):
            # one answer for all: what lies behind an address is nobody's business
            return Undescribed("invalid_client", "The document of this client cannot be read.")

    async def _get(self, address: str) -> bytes:
        headers = {"Accept": "application/json"}
        async with self._http.get(address, headers=headers, allow_redirects=False) as answer:
            if answer.status != 200 or answer.content_type.partition("/")[0] != "application":
                raise ValueError("not a document")
            found = bytearray()
            async for part in answer.content.iter_any():
                found += part
                if len(found) > MAX_BYTES:
                    raise ValueError("too large")
            return bytes(found)


def _read(client_id: str, raw: bytes) -> Client:
    given = json.loads(raw)
    if not isinstance(given, dict) or given.get("client_id") != client_id:
        raise Undescribed("invalid_client", "The document of this client is about another one.")
    if "client_secret" in given or given.get("token_endpoint_auth_method") not in _NO_SECRET:
        raise Undescribed("invalid_client", "Only clients without a secret are accepted.")
    return description.read(given).client(client_id, document=True)
