"""Hand-made ID tokens, right ones and wrong ones, against the checks themselves."""

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey

from services.auth.id_token import Expected, verified_claims
from services.auth.provider import Provider
from services.auth.refusals import Reason, Refused

NOW = 1_800_000_000
ISSUER = "https://id.example.com"
CLIENT = "strad"
RSA = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
OTHER_RSA = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256", "kid": str(RSA.kid)})
EC = ECKey.generate_key("P-256", {"use": "sig", "alg": "ES256"}, auto_kid=True)
KEYS = KeySet([RSA, EC])
ACCESS = "an access token"
EXPECTED = Expected((ISSUER,), CLIENT, "the nonce", ACCESS, ("RS256", "ES256"))
CLAIMS: dict[str, Any] = {
    "iss": ISSUER,
    "sub": "1234",
    "aud": CLIENT,
    "nonce": "the nonce",
    "iat": NOW - 5,
    "exp": NOW + 300,
}


class Stand(Provider):
    """A provider whose keys are at hand."""

    def __init__(self, keys: KeySet = KEYS, newer: KeySet | None = None) -> None:
        self._at_hand, self._newer = keys, newer or keys
        self.asked_again = 0

    async def keys(self) -> KeySet:
        return self._at_hand

    async def newer_keys(self, than: KeySet) -> KeySet:
        self.asked_again += 1
        return self._newer


def signed(claims: dict[str, Any], key: RSAKey | ECKey = RSA, alg: str = "RS256") -> str:
    return jwt.encode({"alg": alg, "kid": key.kid}, claims, key, algorithms=[alg])


def by_hand(header: object, payload: object, signature: bytes = b"") -> str:
    parts = (json.dumps(header).encode(), json.dumps(payload).encode(), signature)
    return ".".join(urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def at_hash(access: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(access.encode()).digest()[:16]).rstrip(b"=").decode()


async def refusal(text: str, expected: Expected = EXPECTED) -> Reason:
    with pytest.raises(Refused) as refused:
        await verified_claims(text, Stand(), expected, NOW)
    return refused.value.reason


GOOD: dict[str, dict[str, Any]] = {
    "as it should be": {},
    "a list of one audience": {"aud": [CLIENT]},
    "azp that is ours": {"azp": CLIENT},
    "two audiences and azp ours": {"aud": [CLIENT, "account"], "azp": CLIENT},
    "right at_hash": {"at_hash": at_hash(ACCESS)},
    "expired within the leeway": {"iat": NOW - 300, "exp": NOW - 30},
    "a clock thirty seconds ahead": {"iat": NOW + 30, "nbf": NOW + 30},
    "nine minutes old": {"iat": NOW - 540},
    "a life of a day": {"iat": NOW, "exp": NOW + 24 * 3600},
    "times with fractions": {"iat": NOW - 0.5, "exp": NOW + 300.5},
}

BAD: dict[str, tuple[dict[str, Any], Reason]] = {
    "no iss": ({"iss": None}, Reason.TOKEN_ISSUER),
    "another iss": ({"iss": "https://evil.test"}, Reason.TOKEN_ISSUER),
    "iss with a slash": ({"iss": f"{ISSUER}/"}, Reason.TOKEN_ISSUER),
    "iss in capitals": ({"iss": ISSUER.upper()}, Reason.TOKEN_ISSUER),
    "iss without its scheme": ({"iss": "id.example.com"}, Reason.TOKEN_ISSUER),
    "a list of iss": ({"iss": [ISSUER]}, Reason.TOKEN_ISSUER),
    "another aud": ({"aud": "another"}, Reason.TOKEN_AUDIENCE),
    "aud of two without azp": ({"aud": [CLIENT, "another"]}, Reason.TOKEN_AUDIENCE),
    "azp of another": ({"azp": "another"}, Reason.TOKEN_AUDIENCE),
    "azp empty": ({"azp": ""}, Reason.TOKEN_AUDIENCE),
    "azp null": ({"azp": None, "keep": True}, Reason.TOKEN_AUDIENCE),
    "two aud, azp of the other": (
        {"aud": [CLIENT, "another"], "azp": "another"},
        Reason.TOKEN_AUDIENCE,
    ),
    "aud that begins like ours": ({"aud": f"{CLIENT}-2"}, Reason.TOKEN_AUDIENCE),
    "no sub": ({"sub": None}, Reason.TOKEN_MALFORMED),
    "empty sub": ({"sub": ""}, Reason.TOKEN_MALFORMED),
    "a number as sub": ({"sub": 1234}, Reason.TOKEN_MALFORMED),
    "sub of 256 characters": ({"sub": "x" * 256}, Reason.TOKEN_MALFORMED),
    "no exp": ({"exp": None}, Reason.TOKEN_MALFORMED),
    "a text as exp": ({"exp": str(NOW + 300)}, Reason.TOKEN_MALFORMED),
    "true as exp": ({"exp": True}, Reason.TOKEN_MALFORMED),
    "expired": ({"iat": NOW - 400, "exp": NOW - 61}, Reason.TOKEN_EXPIRED),
    "no iat": ({"iat": None}, Reason.TOKEN_MALFORMED),
    "a text as iat": ({"iat": "now"}, Reason.TOKEN_MALFORMED),
    "iat in the future": ({"iat": NOW + 61}, Reason.TOKEN_FROM_THE_FUTURE),
    "nbf in the future": ({"nbf": NOW + 61}, Reason.TOKEN_FROM_THE_FUTURE),
    "issued eleven minutes ago": ({"iat": NOW - 661}, Reason.TOKEN_EXPIRED),
    "a life of more than a day": ({"exp": NOW + 24 * 3600 + 1}, Reason.TOKEN_LIFETIME),
    "an end that never comes": ({"exp": 10**30}, Reason.TOKEN_MALFORMED),
    "an end before its beginning": ({"iat": NOW, "exp": NOW - 10}, Reason.TOKEN_LIFETIME),
    "an end in the year 3000": ({"exp": 32_500_000_000}, Reason.TOKEN_LIFETIME),
    "NaN as exp": ({"exp": float("nan")}, Reason.TOKEN_MALFORMED),
    "infinity as exp": ({"exp": float("inf")}, Reason.TOKEN_MALFORMED),
    "an integer beyond every float as exp": ({"exp": 10**400}, Reason.TOKEN_MALFORMED),
    "NaN as iat": ({"iat": float("nan")}, Reason.TOKEN_MALFORMED),
    "minus infinity as iat": ({"iat": float("-inf")}, Reason.TOKEN_MALFORMED),
    "NaN as nbf": ({"nbf": float("nan")}, Reason.TOKEN_MALFORMED),
    "null as nbf": ({"nbf": None, "keep": True}, Reason.TOKEN_MALFORMED),
    "no nonce": ({"nonce": None}, Reason.TOKEN_NONCE),
    "another nonce": ({"nonce": "of another sign-in"}, Reason.TOKEN_NONCE),
    "a list of nonces": ({"nonce": ["the nonce"]}, Reason.TOKEN_NONCE),
    "wrong at_hash": ({"at_hash": at_hash("another")}, Reason.TOKEN_AT_HASH),
    "empty at_hash": ({"at_hash": ""}, Reason.TOKEN_AT_HASH),
    "a number as at_hash": ({"at_hash": 5}, Reason.TOKEN_AT_HASH),
    "no aud": ({"aud": None}, Reason.TOKEN_AUDIENCE),
    "an empty list of aud": ({"aud": []}, Reason.TOKEN_AUDIENCE),
    "an object as aud": ({"aud": {CLIENT: 1}}, Reason.TOKEN_AUDIENCE),
}


def with_changes(changes: dict[str, Any]) -> dict[str, Any]:
    """None takes a claim out, unless `keep` says that null itself is meant."""
    keep = changes.get("keep", False)
    claims = CLAIMS | {name: value for name, value in changes.items() if name != "keep"}
    return {name: value for name, value in claims.items() if value is not None or keep}


@pytest.mark.parametrize("name", GOOD)
async def test_a_good_token_is_accepted(name: str) -> None:
    claims = await verified_claims(signed(with_changes(GOOD[name])), Stand(), EXPECTED, NOW)
    assert claims["sub"] == "1234"


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_claim_is_refused_by_name(name: str) -> None:
    changes, reason = BAD[name]
    assert await refusal(signed(with_changes(changes))) is reason


async def test_es256_is_accepted_where_the_provider_offers_it() -> None:
    text = signed(CLAIMS, EC, "ES256")
    assert (await verified_claims(text, Stand(), EXPECTED, NOW))["sub"] == "1234"
    only_rsa = Expected((ISSUER,), CLIENT, "the nonce", ACCESS, ("RS256",))
    assert await refusal(text, only_rsa) is Reason.TOKEN_ALGORITHM


async def test_google_may_write_its_name_without_a_scheme_and_others_may_not() -> None:
    google = Provider("https://accounts.google.com", None, lambda: NOW)  # type: ignore[arg-type]
    other = Provider(ISSUER, None, lambda: NOW)  # type: ignore[arg-type]
    assert google.issuers == ("https://accounts.google.com", "accounts.google.com")
    assert other.issuers == (ISSUER,)


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "nOnE", "", None, 5, ["RS256"]])
async def test_no_algorithm_is_no_signature(alg: object) -> None:
    assert await refusal(by_hand({"alg": alg, "kid": RSA.kid}, CLAIMS)) in {
        Reason.TOKEN_ALGORITHM,
        Reason.TOKEN_MALFORMED,
    }


async def test_a_public_key_is_no_hmac_secret() -> None:
    secret = RSA.as_pem(private=False)
    head, body, _ = by_hand({"alg": "HS256", "kid": RSA.kid}, CLAIMS).split(".")
    mac = hmac.digest(secret, f"{head}.{body}".encode(), "sha256")
    text = f"{head}.{body}.{urlsafe_b64encode(mac).rstrip(b'=').decode()}"
    assert await refusal(text) is Reason.TOKEN_ALGORITHM


async def test_another_key_under_a_known_name_is_refused() -> None:
    assert await refusal(signed(CLAIMS, OTHER_RSA)) is Reason.TOKEN_SIGNATURE


async def test_a_key_inside_the_token_is_not_used() -> None:
    stranger = RSAKey.generate_key(2048)
    header = {"alg": "RS256", "kid": RSA.kid, "jwk": stranger.as_dict(private=False)}
    text = jwt.encode(header, CLAIMS, stranger, algorithms=["RS256"])
    assert await refusal(text) in {Reason.TOKEN_SIGNATURE, Reason.TOKEN_MALFORMED}


async def test_a_changed_payload_breaks_the_signature() -> None:
    head, _, tail = signed(CLAIMS).split(".")
    other = by_hand({}, CLAIMS | {"sub": "somebody else"}).split(".")[1]
    assert await refusal(f"{head}.{other}.{tail}") is Reason.TOKEN_SIGNATURE


async def test_an_unknown_key_is_asked_for_once_more_and_no_oftener() -> None:
    provider = Stand(KeySet([EC]))
    with pytest.raises(Refused) as refused:
        await verified_claims(signed(CLAIMS), provider, EXPECTED, NOW)
    assert refused.value.reason is Reason.TOKEN_KEY
    assert provider.asked_again == 1


async def test_a_token_of_a_new_key_is_accepted_after_that() -> None:
    provider = Stand(KeySet([EC]), newer=KEYS)
    assert (await verified_claims(signed(CLAIMS), provider, EXPECTED, NOW))["sub"] == "1234"


async def test_an_empty_key_set_accepts_nothing() -> None:
    with pytest.raises(Refused) as refused:
        await verified_claims(signed(CLAIMS), Stand(KeySet([])), EXPECTED, NOW)
    assert refused.value.reason is Reason.TOKEN_KEY


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "a.b.c",
        "....",
        "x" * 40_000,
        "\x00.\x00.\x00",
        "é.é.é",
        by_hand([], CLAIMS),
        pytest.param(by_hand({"alg": "RS256", "kid": RSA.kid}, []), id="claims are a list"),
        by_hand({"alg": "RS256", "kid": {"a": 1}}, CLAIMS),
        by_hand({"alg": "RS256", "kid": RSA.kid, "crit": ["x"], "x": 1}, CLAIMS),
        by_hand({"alg": "RS256", "kid": RSA.kid, "b64": False, "crit": ["b64"]}, CLAIMS),
        by_hand({"alg": "RSA-OAEP", "enc": "A256GCM"}, CLAIMS) + ".x.y",
        urlsafe_b64encode(b"[" * 20_000).decode() + ".e30.e30",
    ],
)
async def test_what_is_no_token_is_refused_without_an_error(text: str) -> None:
    assert await refusal(text) in {
        Reason.TOKEN_MALFORMED,
        Reason.TOKEN_SIGNATURE,
        Reason.TOKEN_KEY,
        Reason.TOKEN_ALGORITHM,
    }


async def test_a_token_that_is_right_but_very_long_is_refused() -> None:
    assert await refusal(signed(CLAIMS | {"groups": ["x" * 40_000]})) is Reason.TOKEN_MALFORMED


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*CLAIMS, "azp", "nbf", "at_hash", "amr", "acr"]), JSON))
@settings(max_examples=150, deadline=None)
async def test_a_provider_that_writes_anything_gets_a_refusal_and_not_an_error(
    changes: dict[str, Any],
) -> None:
    try:
        claims = await verified_claims(signed(CLAIMS | changes), Stand(), EXPECTED, NOW)
    except Refused:
        return
    assert claims["iss"] == ISSUER
    assert claims["nonce"] == "the nonce"
    assert NOW - 660 <= claims["iat"] <= NOW + 60
    assert isinstance(claims["sub"], str)
