"""A sign-in on its way to the provider and back: one sealed record, bound to one browser.

The browser itself keeps the record, sealed, in a cookie. So an answer is good only in the browser
that asked, and only for ten minutes; that it was used is noted in Redis, so it is good only once.
(A state that any browser may bring is a takeover with one click: the victim's browser would finish
a sign-in that the attacker began.) Nothing is stored when a sign-in begins: anybody can begin any
number, and a full Redis would let nobody in.
"""

import base64
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
_SEALED_FOR = keys.SIGN_IN.key("cookie")


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
    """A new attempt, and the cookie value that holds it."""

    cookie: str
    attempt: Attempt


class Attempts:
    """Begins and takes attempts."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock, issuer: str) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._issuer = issuer

    def begin(self, return_to: str, *, trusted: bool) -> Started:
        """A new attempt, good for ten minutes."""
        attempt = Attempt(
            state=new_secret(),
            nonce=new_secret(),
            verifier=new_secret(),
            issuer=self._issuer,
            return_to=return_to,
            trusted=trusted,
        )
        sealed = self._seal.seal(_SEALED_FOR, attempt.model_dump(), self._clock() + LIFE_SECONDS)
        return Started(base64.urlsafe_b64encode(sealed).rstrip(b"=").decode(), attempt)

    async def take(self, cookie: str) -> Attempt:
        """The attempt in a cookie, which is over with this.

        Raises `Refused`, and `StoreUnavailable` when it cannot be known whether it was used.
        """
        attempt = self._open(cookie)
        if attempt.issuer != self._issuer:
            raise Refused(Reason.STATE_MISMATCH, "begun with another provider")
        # by what is inside: base64 can write the same bytes in several ways
        used = keys.SIGN_IN.key(self._seal.digest("sign-in", attempt.state))
        if not await self._store.add(used, b"1", LIFE_SECONDS):
            raise Refused(Reason.ALREADY_USED)
        return attempt

    def _open(self, cookie: str) -> Attempt:
        try:
            sealed = base64.urlsafe_b64decode(cookie + "=" * (-len(cookie) % 4))
            return Attempt.model_validate(self._seal.open(_SEALED_FOR, sealed, self._clock()))
        except (SealBroken, ValueError) as error:  # also of another version, or no base64
            raise Refused(Reason.COOKIE_MISSING, "not ours, or past its end") from error


def check_state(attempt: Attempt, states: list[str]) -> None:
    """The one `state` of an answer must be the attempt's. Raises `Refused`."""
    given = states[0] if len(states) == 1 else ""
    if not hmac.compare_digest(given.encode(errors="replace"), attempt.state.encode()):
        raise Refused(Reason.STATE_MISMATCH)
