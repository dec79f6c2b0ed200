"""A sign-in on its way to the provider and back: one sealed record, bound to one browser.

The cookie names the record and Redis holds it sealed, so an answer is good only in the browser that
asked, only once, and only for ten minutes. (A state that any browser may bring is a takeover with
one click: the victim's browser would finish a sign-in that the attacker began.)
"""

import hmac
from dataclasses import dataclass

from services.auth.refusals import Reason, Refused
from shared import keys
from shared.clock import Clock
from shared.contracts.identity import Frozen
from shared.ids import new_secret
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue

LIFE_SECONDS = 600


class Attempt(Frozen):
    """What has to be known when the provider's answer arrives.

    `trusted`: the person came by a page of ours or on their own, not by somebody's link.
    """

    state: str
    nonce: str
    verifier: str
    issuer: str
    return_to: str
    trusted: bool


@dataclass(frozen=True, slots=True)
class Started:
    """A new attempt and the cookie value that names it."""

    cookie: str
    attempt: Attempt


class Attempts:
    """Begins and takes attempts. All methods may raise `StoreUnavailable`."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock, issuer: str) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._issuer = issuer

    async def begin(self, return_to: str, *, trusted: bool) -> Started:
        """Keep a new attempt for ten minutes."""
        attempt = Attempt(
            state=new_secret(),
            nonce=new_secret(),
            verifier=new_secret(),
            issuer=self._issuer,
            return_to=return_to,
            trusted=trusted,
        )
        cookie = new_secret()
        key = self._key(cookie)
        sealed = self._seal.seal(key, attempt.model_dump(), self._clock() + LIFE_SECONDS)
        await self._store.put(key, sealed, LIFE_SECONDS)
        return Started(cookie, attempt)

    async def take(self, cookie: str) -> Attempt:
        """The attempt that a cookie names, which is over with this. Raises `Refused`.

        The cookie outlives the record it names. So one that comes without a record has been here.
        """
        if not cookie:
            raise Refused(Reason.COOKIE_MISSING)
        key = self._key(cookie)
        sealed = await self._store.take(key)
        if sealed is None:
            raise Refused(Reason.ALREADY_USED)
        try:
            attempt = Attempt.model_validate(self._seal.open(key, sealed, self._clock()))
        except SealBroken as error:
            raise Refused(Reason.COOKIE_MISSING, "record not ours or past its end") from error
        if attempt.issuer != self._issuer:
            raise Refused(Reason.STATE_MISMATCH, "begun with another provider")
        return attempt

    def _key(self, cookie: str) -> str:
        return keys.SIGN_IN.key(self._seal.digest("sign-in", cookie))


def check_state(attempt: Attempt, states: list[str]) -> None:
    """The one `state` of an answer must be the attempt's. Raises `Refused`."""
    given = states[0] if len(states) == 1 else ""
    if not hmac.compare_digest(given.encode(errors="replace"), attempt.state.encode()):
        raise Refused(Reason.STATE_MISMATCH)
