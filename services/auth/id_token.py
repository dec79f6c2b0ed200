"""The ID token: what it must be before it is believed (OpenID Connect Core §3.1.3.7)."""

from dataclasses import dataclass
from typing import Any

from authlib.oidc.core import CodeIDToken  # type: ignore[import-untyped]
from joserfc import jwt
from joserfc.errors import (
    BadSignatureError,
    ClaimError,
    ExpiredTokenError,
    InvalidKeyIdError,
    JoseError,
    UnsupportedAlgorithmError,
)
from joserfc.jwk import KeySet

from services.auth.provider import Provider
from services.auth.refusals import Reason, Refused

LEEWAY_SECONDS = 60
LONGEST_LIFE_SECONDS = 24 * 3600
OLDEST_SECONDS = 600
MAX_LENGTH = 32 * 1024
_MAX_SUB = 255  # OpenID Connect Core §2
_NEVER = 2**53  # no time; neither is NaN, which JSON as Python reads it may hold

_BY_CLAIM = {
    "iss": Reason.TOKEN_ISSUER,
    "aud": Reason.TOKEN_AUDIENCE,
    "azp": Reason.TOKEN_AUDIENCE,
    "exp": Reason.TOKEN_EXPIRED,
    "iat": Reason.TOKEN_FROM_THE_FUTURE,
    "nbf": Reason.TOKEN_FROM_THE_FUTURE,
    "nonce": Reason.TOKEN_NONCE,
    "at_hash": Reason.TOKEN_AT_HASH,
}


@dataclass(frozen=True, slots=True)
class Expected:
    """What a token must agree with. `access_token` came with it."""

    issuers: tuple[str, ...]
    client_id: str
    nonce: str
    access_token: str
    algorithms: tuple[str, ...]


async def verified_claims(
    text: str, provider: Provider, expected: Expected, now: float
) -> dict[str, Any]:
    """The claims of an ID token after every check. Raises `Refused`."""
    token = await signed(text, provider, expected.algorithms)
    check_claims(token, expected, now)
    return token.claims


async def signed(text: str, provider: Provider, algorithms: tuple[str, ...]) -> jwt.Token:
    """A token whose signature is the provider's; its claims are unchecked. Raises `Refused`."""
    keys = await provider.keys()
    try:
        return _decode(text, keys, algorithms)
    except InvalidKeyIdError:
        try:
            return _decode(text, await provider.newer_keys(keys), algorithms)
        except InvalidKeyIdError as error:
            raise Refused(Reason.TOKEN_KEY) from error


def _decode(text: str, keys: KeySet, algorithms: tuple[str, ...]) -> jwt.Token:
    """Check algorithm and signature. Raises `InvalidKeyIdError` and `Refused`."""
    if len(text) > MAX_LENGTH:
        raise Refused(Reason.TOKEN_MALFORMED, "too long")
    try:
        return jwt.decode(text, keys, algorithms=list(algorithms))
    except InvalidKeyIdError:
        raise
    except UnsupportedAlgorithmError as error:
        raise Refused(Reason.TOKEN_ALGORITHM) from error
    except BadSignatureError as error:
        raise Refused(Reason.TOKEN_SIGNATURE) from error
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Refused(Reason.TOKEN_MALFORMED, type(error).__name__) from error


def check_claims(token: jwt.Token, expected: Expected, now: float) -> None:
    """The claims, after the signature. `now` in Unix seconds. Raises `Refused`."""
    claims = token.claims
    _check_shapes(claims, expected)
    checked = CodeIDToken(
        claims,
        token.header,
        options={
            "iss": {"essential": True, "values": list(expected.issuers)},
            "aud": {"essential": True, "value": expected.client_id},
        },
        params={
            "nonce": expected.nonce,
            "client_id": expected.client_id,
            "access_token": expected.access_token,
        },
    )
    try:
        checked.validate(now=int(now), leeway=LEEWAY_SECONDS)
    except ExpiredTokenError as error:
        raise Refused(Reason.TOKEN_EXPIRED) from error
    except ClaimError as error:
        reason = _BY_CLAIM.get(error.claim, Reason.TOKEN_MALFORMED)
        raise Refused(reason, f"claim {error.claim}") from error
    if claims["iat"] < now - OLDEST_SECONDS - LEEWAY_SECONDS:
        raise Refused(Reason.TOKEN_EXPIRED, "issued too long ago")
    if not 0 < claims["exp"] - claims["iat"] <= LONGEST_LIFE_SECONDS:
        raise Refused(Reason.TOKEN_LIFETIME)


def _check_shapes(claims: dict[str, Any], expected: Expected) -> None:
    """What the libraries pass over: claims of an odd type, empty ones, times that are no number."""
    for name in ("exp", "iat", *(["nbf"] if "nbf" in claims else [])):
        value = claims.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < _NEVER:
            raise Refused(Reason.TOKEN_MALFORMED, f"claim {name}")
    sub = claims.get("sub")
    if not isinstance(sub, str) or not 0 < len(sub) <= _MAX_SUB:
        raise Refused(Reason.TOKEN_MALFORMED, "claim sub")
    if "azp" in claims and claims["azp"] != expected.client_id:
        raise Refused(Reason.TOKEN_AUDIENCE, "claim azp")
    at_hash = claims.get("at_hash", "absent")
    if not isinstance(at_hash, str) or not at_hash:
        raise Refused(Reason.TOKEN_AT_HASH, "claim at_hash")
