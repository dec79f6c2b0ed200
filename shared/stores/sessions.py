"""Sessions: sealed records under the keyed digest of the cookie (architecture, rule 8).

auth writes, everybody reads. `SESSION_SEEN` is apphost's note of the last use: it stretches the
idle end, never the absolute one, which is sealed inside.
"""

import contextlib

from pydantic import ValidationError

from shared import keys
from shared.clock import Clock
from shared.contracts.identity import Session
from shared.ids import new_secret
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue, StoreUnavailable

SEEN_EVERY_SECONDS = 60
_MOST_NOTED = 10_000


class SessionReader:
    """Opens sessions. All methods may raise `StoreUnavailable`."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock

    def digest(self, cookie: str) -> str:
        """The public address of the session that a cookie names."""
        return self._seal.digest("session", cookie)

    async def find(self, digest: str) -> Session | None:
        """The live session under a digest, or None: absent, forged, idle too long, past its end."""
        key = keys.SESSION.key(digest)
        sealed, seen = await self._store.get_many([key, keys.SESSION_SEEN.key(digest)])
        if sealed is None:
            return None
        now = self._clock()
        try:
            session = Session.model_validate(self._seal.open(key, sealed, now))
        except (SealBroken, ValidationError):  # the second: written by another version
            return None
        last_seen = max(session.created, _as_time(seen, now))
        return session if last_seen + session.idle_seconds > now else None


class SessionSeen:
    """apphost's side: notes that a session was used, at most once a minute."""

    def __init__(self, store: KeyValue, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: dict[str, float] = {}

    async def note(self, digest: str, session: Session) -> None:
        """Note the use. Written only if the last note by this process is older than a minute."""
        now = self._clock()
        if now - self._noted.get(digest, 0.0) < SEEN_EVERY_SECONDS:
            return
        if len(self._noted) >= _MOST_NOTED:
            self._noted.clear()
        self._noted[digest] = now
        seconds = max(1, session.expires - int(now))
        await self._store.put(keys.SESSION_SEEN.key(digest), str(int(now)).encode(), seconds)


class SessionWriter(SessionReader):
    """auth's side: begins and ends sessions."""

    async def begin(self, session: Session) -> str:
        """Store a session under a new random cookie value and return that value."""
        cookie = new_secret()
        digest = self.digest(cookie)
        key = keys.SESSION.key(digest)
        seconds = max(1, session.expires - int(self._clock()))
        sealed = self._seal.seal(key, session.model_dump(mode="json"), session.expires)
        await self._store.put(key, sealed, seconds)
        await self._store.index_add(keys.SESSIONS_OF.key(session.person.subject), digest, seconds)
        if session.provider_session is not None:
            await self._store.index_add(self._by_sid(session.provider_session), digest, seconds)
        return cookie

    async def of(self, subject: str) -> dict[str, Session]:
        """A person's live sessions by digest, newest first."""
        found = await self._live(keys.SESSIONS_OF.key(subject))
        # the index is not sealed: only the record tells whose session it is
        mine = [(digest, one) for digest, one in found.items() if one.person.subject == subject]
        return dict(sorted(mine, key=lambda item: item[1].created, reverse=True))

    async def of_provider_session(self, sid: str) -> dict[str, Session]:
        """The live sessions that began in one sign-in at the provider, by digest."""
        found = await self._live(self._by_sid(sid))
        return {digest: one for digest, one in found.items() if one.provider_session == sid}

    async def _live(self, index: str) -> dict[str, Session]:
        found: dict[str, Session] = {}
        for digest in await self._store.index(index):
            session = await self.find(digest)
            if session is not None:
                found[digest] = session
            # one that cannot be read here stays: while a key is replaced, another replica reads it
            elif await self._store.get(keys.SESSION.key(digest)) is None:
                await self._store.index_remove(index, digest)
        return found

    def _by_sid(self, sid: str) -> str:
        return keys.SESSIONS_BY_SID.key(self._seal.digest("provider-session", sid))

    async def end(self, digest: str) -> None:
        """End one session; absent is fine."""
        session = await self.find(digest)
        await self._store.remove(keys.SESSION.key(digest))
        if session is not None:
            await self._store.index_remove(keys.SESSIONS_OF.key(session.person.subject), digest)
            # and nobody is told of what never was: anybody can sign out with a made-up cookie
            await tell_ended(self._store, digest)

    async def end_all(self, subject: str) -> int:
        """End every session of a person; how many there were at most."""
        index = keys.SESSIONS_OF.key(subject)
        digests = await self._store.index(index)
        await self._store.remove(*(keys.SESSION.key(digest) for digest in digests), index)
        await tell_ended(self._store, *digests)
        return len(digests)


async def tell_ended(store: KeyValue, *digests: str) -> None:
    """Let whoever keeps a stream open for these sessions or tokens look at once.

    They are gone by now, told or not: without it a stream is found out a few seconds later.
    """
    with contextlib.suppress(StoreUnavailable):
        for digest in digests:
            await store.publish(keys.ENDED.name, digest.encode())


def _as_time(value: bytes | None, now: float) -> float:
    # whoever can write the note could set it far ahead once and for all; that is no use at all
    try:
        seen = float(value or 0)
    except ValueError:
        return 0.0
    return seen if seen <= now + SEEN_EVERY_SECONDS else 0.0
