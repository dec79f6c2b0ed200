"""Whose e-mail address is whose: the first sign-in with an address binds it to its subject.

`strad.yaml` names people by address, and an address can change hands at the provider. Whoever gets
it later must not get what was meant for the person before: another subject is refused until an
operator unbinds the address.

The binding is a keyed digest under a keyed digest. It is not sealed, so that no rotation of the
seal locks anybody out; the key of digests is not rotated.
"""

import hmac

from pydantic import ValidationError

from shared import keys
from shared.clock import Clock
from shared.contracts.identity import Person
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue

_BOUND_SECONDS = 10 * 365 * 86400
_KNOWN_SECONDS = 400 * 86400


class People:
    """Those who have signed in. All methods may raise `StoreUnavailable`."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock

    async def claim(self, person: Person) -> bool:
        """Whether the address is this subject's; it is from now on if it was nobody's."""
        key, value = self._key(person.email), self._value(person.email, person.subject)
        if not await self._store.add(key, value, _BOUND_SECONDS):
            found = await self._store.get(key)
            if found is None or not hmac.compare_digest(found, value):
                return False
        await self._remember(person)
        return True

    async def subject_of(self, email: str) -> str | None:
        """The subject that an address is bound to; None as well for a binding that is not ours."""
        found = await self._store.get(self._key(email))
        subject = (found or b"").decode(errors="replace").partition(".")[0]
        if found is None or not hmac.compare_digest(found, self._value(email, subject)):
            return None
        return subject

    async def find(self, email: str) -> Person | None:
        """Who the address is bound to, as the provider described them last."""
        subject = await self.subject_of(email)
        if subject is None:
            return None
        key = keys.KNOWN.key(subject)
        sealed = await self._store.get(key)
        if sealed is None:
            return None
        try:
            person = Person.model_validate(self._seal.open(key, sealed, self._clock()))
        except (SealBroken, ValidationError):  # the second: written by another version
            return None
        return person if person.email == email else None

    async def unbind(self, email: str) -> None:
        """The next subject that signs in with this address gets it."""
        await self._store.remove(self._key(email))

    async def _remember(self, person: Person) -> None:
        key = keys.KNOWN.key(person.subject)
        end = int(self._clock()) + _KNOWN_SECONDS
        await self._store.put(key, self._seal.seal(key, person.model_dump(), end), _KNOWN_SECONDS)

    def _key(self, email: str) -> str:
        return keys.BOUND.key(self._seal.digest("address", email))

    def _value(self, email: str, subject: str) -> bytes:
        proof = self._seal.digest("bound", f"{email}\0{subject}")
        return f"{subject}.{proof}".encode()
