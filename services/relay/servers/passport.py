"""`Strad-Identity`: the only way a server learns who calls (`identity: signed`).

A JWT (RFC 7519, ES256) that names one person, or one machine (`client_id` in place of `email`), to
one server for a minute. The key set that verifies it is public, at `/mcp/.well-known/jwks.json`.
"""

from typing import Any

from joserfc.jwk import ECKey, KeySet

from services.relay.gate import Way
from shared import ids
from shared.clock import Clock
from shared.contracts.identity import Person
from shared.signing import sign

LIFE_SECONDS = 60


class Passports:
    """Issues a passport for each request to a server."""

    def __init__(
        self, key: ECKey, issuer: str, clock: Clock, published: KeySet | None = None
    ) -> None:
        self._key = key
        self._issuer = issuer
        self._clock = clock
        self._published = published or KeySet([key])

    def issue(self, way: Way) -> str:
        """A fresh one: `aud` is the server's own URL, so that it is of no use to another server."""
        now = int(self._clock())
        claims = {
            "iss": self._issuer,
            "sub": way.principal.subject,
            **_who(way.principal.person),
            "aud": way.server.url,
            "iat": now,
            "exp": now + LIFE_SECONDS,
            "jti": ids.new_id(),
        }
        return sign(claims, self._key)

    def key_set(self) -> dict[str, Any]:
        """The public halves (RFC 7517): servers keep a key that will sign, and one that did."""
        return dict(self._published.as_dict(private=False))


def _who(person: Person) -> dict[str, str]:
    # a machine has no address: a server must not take it for one of a person
    return {"email": person.email} if person.machine is None else {"client_id": person.machine}
