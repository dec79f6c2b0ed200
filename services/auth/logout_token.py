"""The provider's word that a person signed out there (OpenID Back-Channel Logout 1.0 §2.6)."""

from dataclasses import dataclass
from typing import Any

from services.auth.id_token import LEEWAY_SECONDS, OLDEST_SECONDS, signed
from services.auth.provider import Provider
from services.auth.refusals import Reason, Refused
from shared.contracts.identity import Person

EVENT = "http://schemas.openid.net/event/backchannel-logout"
USED_SECONDS = OLDEST_SECONDS + 2 * LEEWAY_SECONDS
_MAX_TEXT = 255


@dataclass(frozen=True, slots=True)
class SignedOut:
    """Who signed out: `subject` as in sessions, or one sign-in there (`sid`), or both.

    `id`: of the token, which counts once.
    """

    id: str
    subject: str | None
    sid: str | None


async def read_logout_token(text: str, provider: Provider, client_id: str, now: float) -> SignedOut:
    """Every check of the standard. Raises `Refused`."""
    metadata = await provider.metadata()
    token = await signed(text, provider, metadata.algorithms)
    claims = token.claims
    # an ID token is signed by the same key: it has a nonce, and no such event
    if token.header.get("typ", "logout+jwt").lower().removeprefix("application/") not in {
        "logout+jwt",
        "jwt",
    }:
        raise Refused(Reason.TOKEN_MALFORMED, "typ")
    if "nonce" in claims:
        raise Refused(Reason.TOKEN_NONCE, "a logout token has none")
    if claims.get("iss") not in provider.issuers:
        raise Refused(Reason.TOKEN_ISSUER)
    audience = claims.get("aud")
    if client_id not in (audience if isinstance(audience, list) else [audience]):
        raise Refused(Reason.TOKEN_AUDIENCE)
    _check_times(claims, now)
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(EVENT), dict):
        raise Refused(Reason.TOKEN_MALFORMED, "events")
    sub, sid = _text(claims, "sub"), _text(claims, "sid")
    if sub is None and sid is None:
        raise Refused(Reason.TOKEN_MALFORMED, "neither sub nor sid")
    identifier = _text(claims, "jti")
    if identifier is None:
        raise Refused(Reason.TOKEN_MALFORMED, "jti")
    return SignedOut(identifier, _subject(provider.issuer, sub), sid)


def _check_times(claims: dict[str, Any], now: float) -> None:
    times = []
    for name in ("iat", "exp"):
        value = claims.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused(Reason.TOKEN_MALFORMED, name)
        times.append(value)
    issued, end = times
    if not now - OLDEST_SECONDS - LEEWAY_SECONDS <= issued or not end > now - LEEWAY_SECONDS:
        raise Refused(Reason.TOKEN_EXPIRED)
    if not issued <= now + LEEWAY_SECONDS:
        raise Refused(Reason.TOKEN_FROM_THE_FUTURE)


def _text(claims: dict[str, Any], name: str) -> str | None:
    if name not in claims:
        return None
    value = claims[name]
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_TEXT:
        raise Refused(Reason.TOKEN_MALFORMED, name)
    return value


def _subject(issuer: str, sub: str | None) -> str | None:
    return None if sub is None else Person(issuer=issuer, sub=sub, email="", name="").subject
