"""Personal access tokens: sealed records under the keyed digest of the token.

auth writes, the relay reads. The token itself is shown once and stored nowhere.
"""

import contextlib
from collections.abc import Iterable

from pydantic import ValidationError

from shared import keys
from shared.clock import Clock
from shared.contracts.identity import Token, TokenUse
from shared.ids import is_token, new_token
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue
from shared.stores.opened import Opened
from shared.stores.sessions import tell_ended


class TokenReader:
    """Opens tokens. All methods may raise `StoreUnavailable`."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._opened = Opened[Token](seal, clock)

    def digest(self, token: str) -> str:
        """The public address of a token's record."""
        return self._seal.digest("token", token)

    async def verify(self, text: str) -> tuple[str, Token] | None:
        """The digest and record of a live token, or None: malformed, unknown, revoked, expired."""
        if not is_token(text):
            return None
        digest = self.digest(text)
        record = await self.find(digest)
        return (digest, record) if record is not None else None

    async def find(self, digest: str) -> Token | None:
        """The record of a live token, by its digest."""
        key = keys.TOKEN.key(digest)
        return self.open(key, await self._store.get(key))

    def open(self, key: str, sealed: bytes | None) -> Token | None:
        """The record of a live token under this key: one object, while its bytes are the same."""
        if sealed is None:
            return None
        try:
            return self._opened.open(key, sealed, Token.model_validate)
        except (SealBroken, ValidationError):  # the second: written by another version
            return None


class TokenWriter(TokenReader):
    """auth's side: creates, lists and revokes."""

    async def create(self, record: Token) -> str:
        """Store the record under a new token and return the token, which cannot be had again."""
        text = new_token()
        digest = self.digest(text)
        key = keys.TOKEN.key(digest)
        seconds = max(1, record.expires - int(self._clock()))
        sealed = self._seal.seal(key, record.model_dump(mode="json"), record.expires)
        await self._store.put(key, sealed, seconds)
        await self._store.index_add(keys.TOKENS_OF.key(record.person.subject), digest, seconds)
        return text

    async def of(self, subject: str) -> dict[str, Token]:
        """A person's live tokens by digest, newest first."""
        found, _ = await self._indexed(subject)
        return dict(sorted(found.items(), key=lambda item: item[1].created, reverse=True))

    async def _indexed(self, subject: str) -> tuple[dict[str, Token], list[str]]:
        """A person's live tokens, and the digests of records that cannot be read here.

        Those stay in the index: while a key is replaced, another replica can read them.
        """
        index = keys.TOKENS_OF.key(subject)
        found: dict[str, Token] = {}
        unread: list[str] = []
        for digest in await self._store.index(index):
            record = await self.find(digest)
            if record is None and await self._store.get(keys.TOKEN.key(digest)) is not None:
                unread.append(digest)
            # the index is not sealed: only the record tells whose token it is
            elif record is None or record.person.subject != subject:
                await self._store.index_remove(index, digest)
            else:
                found[digest] = record
        return found, unread

    async def uses(self, digests: Iterable[str]) -> dict[str, TokenUse]:
        """Who used these tokens last, by digest, as far as the relay has noted it."""
        places = {digest: keys.TOKEN_USE.key(digest) for digest in digests}
        found = await self._store.get_many(list(places.values()))
        uses: dict[str, TokenUse] = {}
        for (digest, key), sealed in zip(places.items(), found, strict=True):
            with contextlib.suppress(SealBroken, ValidationError):
                if sealed is not None:
                    uses[digest] = TokenUse.model_validate(
                        self._seal.open(key, sealed, self._clock())
                    )
        return uses

    async def revoke(self, subject: str, token_id: str) -> bool:
        """Revoke a person's token by its id; False when that person has no such token."""
        for digest, record in (await self.of(subject)).items():
            if record.id == token_id:
                await self._store.remove(keys.TOKEN.key(digest))
                await self._store.index_remove(keys.TOKENS_OF.key(subject), digest)
                await tell_ended(self._store, digest)
                return True
        return False

    async def revoke_all(self, subject: str) -> int:
        """Revoke every token of a person; how many there were."""
        found, unread = await self._indexed(subject)
        mine = [*found, *unread]
        for digest in mine:
            await self._store.remove(keys.TOKEN.key(digest))
            await self._store.index_remove(keys.TOKENS_OF.key(subject), digest)
        await tell_ended(self._store, *mine)
        return len(mine)
