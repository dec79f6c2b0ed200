"""What one person has allowed, over all clients: listed, counted, ended."""

from services.auth.oauth.records import Allowed
from services.auth.oauth.store import OAuthStore
from shared import keys

MAX_CLIENTS = 50  # of one person: one more ends the one unused for longest


class Connected(OAuthStore):
    """The store, and its records by person. All methods may raise `StoreUnavailable`."""

    async def end_all(self, subject: str) -> int:
        """End all that a person has allowed, redeemed or not; how many there were."""
        found, unread = await self._all(subject)
        ended = [*(one.id for one in found), *unread]
        for allowed_id in ended:
            await self._end(allowed_id, subject)
        return len(ended)

    async def of(self, subject: str) -> list[Allowed]:
        """What a person has allowed and a client has taken up, the newest first."""
        found, _ = await self._all(subject)
        taken_up = [one for one in found if one.used is not None]
        return sorted(taken_up, key=lambda one: one.created, reverse=True)

    async def _all(self, subject: str) -> tuple[list[Allowed], list[str]]:
        """What a person has allowed, and the ids of records that cannot be read here.

        Those stay in the index: while a key is replaced, another replica can read them.
        """
        index, found, unread = keys.CLIENTS_OF.key(subject), list[Allowed](), list[str]()
        for allowed_id in await self._store.index(index):
            allowed = await self.allowed(allowed_id)
            if allowed is None and await self._there(allowed_id):
                unread.append(allowed_id)
            # the index is not sealed: only the record tells whose it is
            elif allowed is None or allowed.person.subject != subject:
                await self._store.index_remove(index, allowed_id)
            else:
                found.append(allowed)
        return found, unread

    async def _there(self, allowed_id: str) -> bool:
        ended, kept = keys.OAUTH.key("ended", allowed_id), keys.OAUTH.key("allowed", allowed_id)
        marks = await self._store.get_many([ended, kept])
        return marks[0] is None and marks[1] is not None

    async def too_many(self, subject: str) -> list[Allowed]:
        """Those that were used longest ago: they have to end, so that one more has room."""
        found = sorted(await self.of(subject), key=lambda one: one.used or one.created)
        return found[: max(0, len(found) - MAX_CLIENTS + 1)]

    async def used(self, allowed: Allowed) -> int:
        """When it was last used: its newest token, or what the relay has noted of its tokens."""
        digests = await self._store.index(self._issued(allowed.id))
        seen = await self._store.get_many([keys.TOKEN_SEEN.key(one) for one in digests])
        noted = [int(one) for one in seen if one is not None and one.isdigit()]
        now = int(self._clock())
        return max([allowed.used or allowed.created, *(one for one in noted if one <= now + 60)])
