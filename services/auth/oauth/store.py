"""Where codes, refresh tokens and what people have allowed lie: sealed, under keyed digests.

Only auth reads or writes them. The relay reads access tokens, which are tokens like any other.
"""

from pydantic import ValidationError

from services.auth.oauth.records import REPLAY_SECONDS, Allowed, Client, Code, Refresh
from shared import keys
from shared.clock import Clock
from shared.contracts.identity import Frozen, Token
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue
from shared.stores.sessions import tell_ended
from shared.stores.tokens import TokenReader

UNUSED_CLIENT_SECONDS = 24 * 3600
_END_KNOWN_SECONDS = 24 * 3600


class OAuthStore:
    """All methods may raise `StoreUnavailable`. `access`, `refresh`: seconds."""

    def __init__(
        self, store: KeyValue, seal: Seal, clock: Clock, *, access: int, refresh: int
    ) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._access = access
        self._refresh = refresh
        self._tokens = TokenReader(store, seal, clock)

    def digest(self, secret: str) -> str:
        """The address of a code's or refresh token's record."""
        return self._seal.digest("oauth", secret)

    async def client(self, client_id: str) -> Client | None:
        """A client that registered itself and is in use."""
        found = await self._get(keys.OAUTH.key("client", client_id), Client)
        return found if isinstance(found, Client) else None

    async def allow(self, allowed: Allowed, text: str, code: Code) -> None:
        """Keep what a person has allowed, and the code that stands for it."""
        await self._put(keys.OAUTH.key("allowed", allowed.id), allowed, REPLAY_SECONDS)
        whose = keys.CLIENTS_OF.key(allowed.person.subject)
        await self._store.index_add(whose, allowed.id, REPLAY_SECONDS)
        await self._put(keys.OAUTH.key("code", self.digest(text)), code, REPLAY_SECONDS)

    async def code(self, text: str) -> Code | None:
        """The record of a code, used or not, for as long as a replay is looked for."""
        found = await self._get(keys.OAUTH.key("code", self.digest(text)), Code)
        return found if isinstance(found, Code) else None

    async def refresh(self, text: str) -> Refresh | None:
        """The record of a refresh token."""
        found = await self._get(self.refresh_key(text), Refresh)
        return found if isinstance(found, Refresh) else None

    async def claim_code(self, code: str) -> bool:
        """Use a code: of two who bring the same, one only gets True."""
        # longer than its record is kept
        return await self._store.add(self.used_key(code), b"1", 2 * REPLAY_SECONDS)

    async def claim(self, refresh: str, mark: bytes) -> bool:
        """Use a refresh token, likewise."""
        return await self._store.add(self.used_key(refresh), mark, self._refresh + REPLAY_SECONDS)

    def refresh_key(self, refresh: str) -> str:
        """Where the record of a refresh token lies."""
        return keys.OAUTH.key("refresh", self.digest(refresh))

    def used_key(self, secret: str) -> str:
        """Where the mark lies that it was used."""
        return keys.OAUTH.key("used", self.digest(secret))

    async def allowed(self, allowed_id: str) -> Allowed | None:
        """What was allowed, unless it has ended."""
        key, ended = keys.OAUTH.key("allowed", allowed_id), keys.OAUTH.key("ended", allowed_id)
        if await self._store.get(ended) is not None:
            return None
        found = await self._get(key, Allowed)
        return found if isinstance(found, Allowed) else None

    async def issue(self, allowed: Allowed, access: str, refresh: str, resource: str) -> bool:
        """Keep new tokens. False when all of it was ended meanwhile: then none of them is good."""
        now = int(self._clock())
        life = min(self._refresh, allowed.expires - now) if refresh else self._access
        current = allowed.model_copy(update={"used": now})
        subject = allowed.person.subject
        await self._store.index_add(keys.CLIENTS_OF.key(subject), allowed.id, max(1, life))
        digest, seconds = self._tokens.digest(access), min(self._access, allowed.expires - now)
        await self._put(keys.TOKEN.key(digest), _token(current, now + seconds), seconds)
        await self._note_issued(allowed.id, digest)  # after it: what is not there is forgotten
        if refresh:
            record = Refresh(allowed=allowed.id, client=allowed.client.id, resource=resource)
            await self._put(self.refresh_key(refresh), record, life)
        await self._put(keys.OAUTH.key("allowed", allowed.id), current, life)
        if not allowed.client.document:
            key = keys.OAUTH.key("client", allowed.client.id)
            await self._put(key, allowed.client, max(life, UNUSED_CLIENT_SECONDS))
        # whoever ends it notes that first, and looks for tokens then: one of us sees the other
        if await self._store.get(keys.OAUTH.key("ended", allowed.id)) is None:
            return True
        await self.end(allowed)
        return False

    async def _note_issued(self, allowed_id: str, digest: str) -> None:
        """One more access token of a family; those that have ended are forgotten."""
        issued = self._issued(allowed_id)
        before = list(await self._store.index(issued))
        found = await self._store.get_many([keys.TOKEN.key(one) for one in before])
        for old, record in zip(before, found, strict=True):
            if record is None:
                await self._store.index_remove(issued, old)
        await self._store.index_add(issued, digest, self._access)

    async def end(self, allowed: Allowed) -> None:
        """End it with all its tokens, on every replica from the next request on."""
        await self._end(allowed.id, allowed.person.subject)

    async def _end(self, allowed_id: str, subject: str) -> None:
        await self._store.put(keys.OAUTH.key("ended", allowed_id), b"1", self._end_known())
        issued = self._issued(allowed_id)
        digests = await self._store.index(issued)
        tokens = [keys.TOKEN.key(digest) for digest in digests]
        await self._store.remove(*tokens, issued, keys.OAUTH.key("allowed", allowed_id))
        await self._store.index_remove(keys.CLIENTS_OF.key(subject), allowed_id)
        await tell_ended(self._store, *digests)

    async def access(self, text: str) -> Token | None:
        """The record of a live access token."""
        found = await self._tokens.verify(text)
        return found[1] if found is not None else None

    def _end_known(self) -> int:
        return max(_END_KNOWN_SECONDS, self._refresh) + REPLAY_SECONDS

    @staticmethod
    def _issued(allowed_id: str) -> str:
        return keys.OAUTH.key("issued", allowed_id)

    async def _put(self, key: str, record: Frozen, seconds: int) -> None:
        seconds = max(1, seconds)
        value = record.model_dump(mode="json")
        sealed = self._seal.seal(key, value, self._clock() + seconds)
        await self._store.put(key, sealed, seconds)

    async def _get(self, key: str, kind: type[Frozen]) -> Frozen | None:
        sealed = await self._store.get(key)
        if sealed is None:
            return None
        try:
            return kind.model_validate(self._seal.open(key, sealed, self._clock()))
        except (SealBroken, ValidationError):  # the second: written by another version
            return None


def _token(allowed: Allowed, expires: int) -> Token:
    return Token(
        id=allowed.id,
        person=allowed.person,
        label=allowed.client.name,
        servers=allowed.servers,
        created=allowed.used or allowed.created,
        expires=expires,
        read_only=allowed.read_only,
        client=allowed.client.id,
    )
