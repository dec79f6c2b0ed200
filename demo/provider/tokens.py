"""The ID token (OpenID Connect Core 1.0 §2), and the wrong ones that the fault switches ask for."""

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from typing import Any

from joserfc import jwt

from demo.provider.faults import Faults
from demo.provider.keys import ALGORITHM, Keys
from demo.provider.ledger import ACCESS_SECONDS, Grant

HOUR = 3600
OTHER_ISSUER = "http://127.0.0.1:9/another-issuer"


def about(grant: Grant, faults: Faults) -> dict[str, Any]:
    """The claims about the person, as /userinfo gives them."""
    claims: dict[str, Any] = dict(grant.person.claims())
    if faults.unverified_email:
        claims["email_verified"] = False
    if faults.other_domain:
        claims |= {"hd": "elsewhere.test", "email": f"{grant.person.sub}@elsewhere.test"}
    if faults.no_email:
        del claims["email"], claims["email_verified"]
    return claims


def id_token(
    grant: Grant, access: str, *, issuer: str, now: int, keys: Keys, faults: Faults
) -> str:
    """The signed ID token for one redeemed code; `now` in seconds since 1970."""
    claims = about(grant, faults) | {
        "iss": issuer,
        "aud": grant.client_id,
        "azp": grant.client_id,
        "iat": now,
        "exp": now + ACCESS_SECONDS,
        "auth_time": grant.auth_time,
        "nonce": grant.nonce,
        "at_hash": at_hash(access),
    }
    return _signed(_spoilt(claims, faults), keys, faults)


def at_hash(access: str) -> str:
    """The left half of the access token's SHA-256 (OpenID Connect Core 1.0 §3.1.3.6)."""
    return _base64url(hashlib.sha256(access.encode()).digest()[:16])


def _spoilt(claims: dict[str, Any], faults: Faults) -> dict[str, Any]:
    shift = HOUR if faults.future else -2 * HOUR if faults.expired else 0
    claims |= {name: claims[name] + shift for name in ("iat", "exp", "auth_time")}
    if faults.expired:
        claims["exp"] = claims["iat"] + HOUR
    if faults.wrong_audience:
        claims |= {"aud": "another-client", "azp": "another-client"}
    if faults.wrong_nonce:
        claims["nonce"] = "a-nonce-nobody-sent"
    if faults.wrong_issuer:
        claims["iss"] = OTHER_ISSUER
    if faults.wrong_at_hash:
        claims["at_hash"] = at_hash("another access token")
    return claims


def _signed(claims: dict[str, Any], keys: Keys, faults: Faults) -> str:
    if faults.alg_none:
        return _by_hand({"alg": "none", "typ": "JWT"}, claims, None)
    if faults.hs256:
        # The confusion attack: a client that lets the token choose the algorithm checks an
        # HMAC with the public key as secret, which is no secret.
        header = {"alg": "HS256", "typ": "JWT", "kid": keys.current.kid}
        return _by_hand(header, claims, keys.current.as_pem(private=False))
    kid = "a-key-nobody-published" if faults.unknown_kid else keys.current.kid
    header = {"alg": ALGORITHM, "typ": "JWT", "kid": kid}
    return jwt.encode(header, claims, keys.current, algorithms=[ALGORITHM])


def _by_hand(header: dict[str, Any], claims: dict[str, Any], secret: bytes | None) -> str:
    body = ".".join(_base64url(json.dumps(part).encode()) for part in (header, claims))
    if secret is None:
        return f"{body}."
    return f"{body}.{_base64url(hmac.digest(secret, body.encode(), 'sha256'))}"


def _base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()
