"""Client authentication by a signed assertion (`private_key_jwt`), on Authlib's.

RFC 7523 §3, and of draft-ietf-oauth-rfc7523bis that the audience is our issuer and nothing else: an
assertion that was made for another server, or for several, is none. Its key is one of those in
`strad.yaml`, never one that it brings or names an address of. What is wrong with it is told to who
has signed it, and to nobody else.
"""

import math
from typing import TYPE_CHECKING, Any, TypeGuard

from authlib.oauth2.rfc6749 import InvalidClientError  # type: ignore[import-untyped]
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion  # type: ignore[import-untyped]
from joserfc import jws, jwt
from joserfc.errors import JoseError

from services.auth.oauth.machines import BY_ASSERTION, MachineClient

if TYPE_CHECKING:
    from services.auth.oauth.server import Server

LONGEST_SECONDS = 600
LEEWAY_SECONDS = 30
_MOST_ID = 256
_ODD = (JoseError, ValueError, TypeError, AttributeError, KeyError, RecursionError)


class Assertions(JWTBearerClientAssertion):  # type: ignore[misc]
    """For one request. What was accepted stands in `server.assertion`, to be used up after."""

    CLIENT_AUTH_METHOD = BY_ASSERTION

    def __init__(self, server: "Server") -> None:
        super().__init__(leeway=LEEWAY_SECONDS)
        self._server = server
        self._named: str | None = None

    def __call__(self, query_client: Any, request: Any) -> Any:
        self._named = request.form.get("client_id")
        return super().__call__(query_client, request)

    def extract_assertion(self, assertion: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """See Authlib."""
        try:
            headers, claims = super().extract_assertion(assertion)
            return dict(headers), dict(claims)
        except _ODD as error:
            raise self._refused("assertion-malformed") from error

    def resolve_client_public_key(self, client: MachineClient) -> MachineClient:
        """See Authlib. The client itself: which of its keys, and with what, is looked at below."""
        return client

    def process_assertion_claims(self, assertion: str, client: MachineClient) -> dict[str, Any]:
        """See Authlib."""
        claims = self._signed(assertion, client)
        self._check(claims, client.client_id)
        self._server.assertion = (client.client_id, claims["jti"], math.ceil(claims["exp"]))
        return claims

    def _signed(self, assertion: str, client: MachineClient) -> dict[str, Any]:
        """The claims, if one of the client's own keys has signed them."""
        try:
            kid = jws.extract_compact(assertion.encode()).headers().get("kid")
        except _ODD as error:
            raise self._refused("assertion-malformed") from error
        for key, algorithms in client.proof.keys:
            if kid is not None and key.kid is not None and key.kid != kid:
                continue
            try:
                # a key is tried with its own algorithms only: never HMAC with a public key, or none
                return dict(jwt.decode(assertion, key, algorithms=list(algorithms)).claims)
            except _ODD:
                continue
        raise self._refused("assertion-signature")

    def _check(self, claims: dict[str, Any], client_id: str) -> None:
        now, issuer = self._server.now, self._server.rules.issuer
        until = now + LONGEST_SECONDS + LEEWAY_SECONDS
        if claims.get("iss") != client_id or claims.get("sub") != client_id:
            raise self._refused("assertion-issuer", "iss and sub have to be the client id.")
        if self._named not in (None, client_id):
            # RFC 7521 §4.2
            raise self._refused("client-id-differs", "client_id is another one than sub.")
        if claims.get("aud") not in (issuer, [issuer]):
            raise self._refused("assertion-audience", f"aud has to be {issuer} alone.")
        # written so that what is no number, and what compares to nothing, is refused
        end = claims.get("exp")
        if not _is_number(end) or not end > now - LEEWAY_SECONDS:
            raise self._refused("assertion-expired", "exp is missing, or has passed.")
        if not end <= until:
            text = f"exp has to be within {LONGEST_SECONDS} seconds."
            raise self._refused("assertion-lifetime", text)
        for name in ("nbf", "iat"):
            begin = claims.get(name, 0)
            if not _is_number(begin) or not begin <= now + LEEWAY_SECONDS:
                text = f"{name} is in the future: check the clock."
                raise self._refused("assertion-from-the-future", text)
        jti = claims.get("jti")
        if not isinstance(jti, str) or not 0 < len(jti) <= _MOST_ID:
            raise self._refused("assertion-id", "jti has to be a text, another one each time.")

    def _refused(self, reason: str, told: str = "") -> InvalidClientError:
        self._server.refusal, self._server.told = reason, told
        return InvalidClientError(description=told or None)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
