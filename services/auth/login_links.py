"""Sign-in links: a one-time token that is made for a person, for ten minutes.

By an operator, or by a machine that may (`login_links`).

Exchanged once for a session that may look and not call tools: a link passes through mail and chat.
A look at it uses nothing up, since mail scanners follow links too; only the person's press does.
"""

from dataclasses import dataclass

from pydantic import ValidationError

from services.auth.people import People
from services.auth.return_to import HOME, safe_path
from shared import keys
from shared.clock import Clock
from shared.contracts.identity import Frozen, Person, Session, SessionKind
from shared.ids import new_secret
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue

LINK_SECONDS = 600
SESSION_SECONDS = 3600
LINK_PATH = "/auth/link"


class _Record(Frozen):
    person: Person
    return_to: str
    machine: str | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """What a link is good for. `return_to`: where it leads, a path of ours.

    `machine`: the client id of the machine that made it; None: an operator did.
    """

    person: Person
    return_to: str
    machine: str | None = None


class LoginLinks:
    """Makes and takes links. All methods may raise `StoreUnavailable`."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock, people: People) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._people = people

    async def make(self, person: Person, to: str = HOME, machine: str | None = None) -> str:
        """The path and query of a new link."""
        token = new_secret()
        key = self._key(token)
        record = _Record(person=person, return_to=safe_path(to), machine=machine)
        sealed = self._seal.seal(key, record.model_dump(), self._clock() + LINK_SECONDS)
        await self._store.put(key, sealed, LINK_SECONDS)
        return f"{LINK_PATH}?token={token}"

    async def look(self, token: str) -> Offer | None:
        """What a link is good for now; None: unknown, used, too old, or its person is another."""
        if not token:
            return None
        key = self._key(token)
        sealed = await self._store.get(key)
        if sealed is None:
            return None
        try:
            record = _Record.model_validate(self._seal.open(key, sealed, self._clock()))
        except (SealBroken, ValidationError):
            return None
        if await self._people.subject_of(record.person.email) != record.person.subject:
            return None  # unbound since
        return Offer(record.person, record.return_to, record.machine)

    async def take(self, token: str) -> Offer | None:
        """The same, once: of two callers only one gets it."""
        offer = await self.look(token)
        if offer is None:
            return None
        key = self._key(token)
        used = keys.LINK_USED.key(self._seal.digest("link", token))
        if not await self._store.add(used, b"1", LINK_SECONDS):
            return None
        await self._store.remove(key)
        return offer

    def _key(self, token: str) -> str:
        return keys.LINK.key(self._seal.digest("link", token))


def limited_session(person: Person, now: int, *, absolute: int, idle: int, device: str) -> Session:
    """A session that looks and does not act, for an hour at most. Times in seconds."""
    life = min(SESSION_SECONDS, absolute)
    return Session(
        kind=SessionKind.TOKEN,
        person=person,
        created=now,
        expires=now + life,
        idle_seconds=min(idle, life),
        device=device,
    )
