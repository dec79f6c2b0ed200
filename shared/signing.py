"""Sealing (AES-256-GCM), keyed digests (HMAC-SHA256) and signed assertions (JWS, ES256).

Redis is outside the trust boundary. What lies there is sealed with the Redis key as associated
data and the end of its life inside: a reader learns nothing, a writer can mint nothing, move
nothing to another key and stretch no expiry. (He can put back a record that was deleted, until
its own end: stated in THREAT_MODEL.md.)
"""

import base64
import json
import secrets
from collections.abc import Sequence
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet

from shared.compact import compact
from shared.contracts.identity import Assertion
from shared.contracts.wire import Service

MIN_KEY_BYTES = 32
ASSERTION_SECONDS = 30
_LEEWAY_SECONDS = 5
_VERSION = b"\x01"
_NONCE_BYTES = 12
_JWS = "ES256"


class SealBroken(Exception):
    """A sealed record is not ours, not for this key, or past its end. Treat it as absent."""


class SealExpired(SealBroken):
    """A sealed record of ours, for this key, past its end."""


def _derive(key: bytes, purpose: str) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=f"strad/{purpose}/1".encode()).derive(key)


class Seal:
    """Seals and opens records, and digests secrets into keys.

    `keys`: one or more master keys of at least 32 bytes, newest first. The newest seals; all open,
    so that a key can be rotated without signing people out. `index` keys the digests and is not
    rotated: a digest is an address, and what it hides are 256 random bits already.
    """

    def __init__(self, keys: Sequence[bytes], index: bytes) -> None:
        if not keys or any(len(key) < MIN_KEY_BYTES for key in (*keys, index)):
            raise ValueError(f"a seal needs keys of at least {MIN_KEY_BYTES} bytes")
        self._ciphers = [AESGCM(_derive(key, "seal")) for key in keys]
        # keyed once, and copied for each digest
        self._index = HMAC(_derive(index, "index"), SHA256())

    def digest(self, purpose: str, secret: str) -> str:
        """Keyed digest of a secret, 43 URL-safe characters: the address of its record."""
        # a cookie may hold bytes that are no text; they have a digest like any other
        text = f"{purpose}\0{secret}".encode(errors="surrogateescape")
        mac = self._index.copy()
        mac.update(text)
        return base64.urlsafe_b64encode(mac.finalize()).rstrip(b"=").decode()

    def seal(self, key: str, record: dict[str, Any], expires: float) -> bytes:
        """Seal a JSON record for one key of Redis or of ours. `expires`: Unix seconds, inside."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        plain = compact({"exp": expires, "rec": record})
        return _VERSION + nonce + self._ciphers[0].encrypt(nonce, plain, key.encode())

    def open(self, key: str, sealed: bytes, now: float) -> dict[str, Any]:
        """Open a record sealed for this key. Raises `SealBroken`, late ones `SealExpired`."""
        return self.open_with_end(key, sealed, now)[0]

    def open_with_end(self, key: str, sealed: bytes, now: float) -> tuple[dict[str, Any], float]:
        """As `open`; the record and its end, in Unix seconds."""
        if sealed[:1] != _VERSION or len(sealed) <= 1 + _NONCE_BYTES:
            raise SealBroken("unknown form")
        nonce, text = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        for cipher in self._ciphers:
            try:
                plain = json.loads(cipher.decrypt(nonce, text, key.encode()))
            except InvalidTag:
                continue
            if plain["exp"] <= now:
                raise SealExpired("past its end")
            return plain["rec"], plain["exp"]
        raise SealBroken("not sealed by us for this key")


class AssertionRefused(Exception):
    """An assertion is missing, forged, late, or meant for somebody else."""


def new_signing_key() -> ECKey:
    """A P-256 signing key with its thumbprint as `kid` (RFC 7638)."""
    key = ECKey.generate_key("P-256", {"alg": _JWS, "use": "sig"}, private=True)
    key.ensure_kid()
    return key


def sign(claims: dict[str, Any], key: ECKey) -> str:
    """A compact JWS (ES256) over JWT claims."""
    return jwt.encode({"alg": _JWS, "kid": key.kid, "typ": "JWT"}, claims, key, algorithms=[_JWS])


def sign_assertion(assertion: Assertion, key: ECKey) -> str:
    """The signed form of an assertion."""
    claims = {
        "iss": assertion.caller.value,
        "aud": assertion.audience.value,
        "sub": assertion.subject,
        "sid": assertion.session,
        "slug": assertion.slug,
        "jti": assertion.id,
        "exp": assertion.expires,
    }
    return sign(claims, key)


def verify_assertion(
    text: str, keys: KeySet, *, audience: Service, slug: str | None, now: float
) -> Assertion:
    """Check signature, audience, slug and life of an assertion. Raises `AssertionRefused`.

    `keys` holds the public keys of the services that may call. The caller must still refuse a
    second use of the same id.
    """
    try:
        claims = jwt.decode(text, keys, algorithms=[_JWS]).claims
        assertion = Assertion(
            caller=claims["iss"],
            audience=claims["aud"],
            subject=claims["sub"],
            session=claims["sid"],
            slug=claims["slug"],
            id=claims["jti"],
            expires=claims["exp"],
        )
    except (JoseError, KeyError, ValueError, TypeError) as error:
        raise AssertionRefused("not a valid assertion") from error
    if assertion.audience is not audience or assertion.slug != slug:
        raise AssertionRefused("meant for another service or server")
    if not now - _LEEWAY_SECONDS < assertion.expires <= now + ASSERTION_SECONDS + _LEEWAY_SECONDS:
        raise AssertionRefused("past its end, or too long a life")
    return assertion
