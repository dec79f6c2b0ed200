"""Seals, digests and assertions: what opens, what does not, and why."""

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, OctKey

from shared.contracts.identity import Assertion
from shared.contracts.wire import Service
from shared.signing import (
    ASSERTION_SECONDS,
    AssertionRefused,
    Seal,
    SealBroken,
    new_signing_key,
    sign,
    sign_assertion,
    verify_assertion,
)

NOW = 1_800_000_000
SEAL = Seal([b"s" * 32], b"i" * 32)
KEY = new_signing_key()
KEYS = KeySet([ECKey.import_key(KEY.as_dict(private=False))])
GOOD = Assertion(
    caller=Service.APPHOST,
    audience=Service.RELAY,
    subject="ada",
    session="digest",
    slug="toys",
    id="once",
    expires=NOW + ASSERTION_SECONDS,
)

RECORDS = st.dictionaries(
    st.text(max_size=5), st.none() | st.integers() | st.text(max_size=9), max_size=4
)


@given(RECORDS)
def test_what_was_sealed_for_a_key_opens_under_it(record: dict[str, Any]) -> None:
    assert SEAL.open("k", SEAL.seal("k", record, NOW + 1), NOW) == record


@given(st.integers(min_value=0, max_value=200), st.integers(min_value=1, max_value=255))
def test_any_changed_byte_breaks_the_seal(at: int, change: int) -> None:
    sealed = bytearray(SEAL.seal("k", {"who": "ada"}, NOW + 1))
    sealed[at % len(sealed)] ^= change
    with pytest.raises(SealBroken):
        SEAL.open("k", bytes(sealed), NOW)


@given(st.binary(max_size=80))
def test_noise_is_no_sealed_record(noise: bytes) -> None:
    for text in (noise, b"\x01" + noise):
        with pytest.raises(SealBroken):
            SEAL.open("k", text, NOW)


def test_a_record_does_not_open_under_another_key() -> None:
    with pytest.raises(SealBroken, match="for this key"):
        SEAL.open("sess:b", SEAL.seal("sess:a", {}, NOW + 1), NOW)


def test_the_end_lies_inside_and_holds() -> None:
    sealed = SEAL.seal("k", {}, NOW)
    assert SEAL.open("k", sealed, NOW - 0.001) == {}
    for late in (NOW, NOW + 1, NOW + 10**9):
        with pytest.raises(SealBroken, match="past its end"):
            SEAL.open("k", sealed, late)


def test_no_two_seals_of_a_record_are_alike() -> None:
    assert len({SEAL.seal("k", {"a": 1}, NOW) for _ in range(100)}) == 100


def test_a_rotated_key_opens_what_the_old_one_sealed_and_the_old_one_not_the_new() -> None:
    old, new = b"o" * 32, b"n" * 32
    before, after = Seal([old], b"i" * 32), Seal([new, old], b"i" * 32)
    assert after.open("k", before.seal("k", {"a": 1}, NOW + 1), NOW) == {"a": 1}
    with pytest.raises(SealBroken):
        before.open("k", after.seal("k", {"a": 1}, NOW + 1), NOW)
    retired = Seal([new], b"i" * 32)
    with pytest.raises(SealBroken):
        retired.open("k", before.seal("k", {"a": 1}, NOW + 1), NOW)


@pytest.mark.parametrize(
    ("seal", "index"),
    [([], b"i" * 32), ([b"s" * 31], b"i" * 32), ([b"s" * 32], b""), ([b"s" * 32, b"x"], b"i" * 32)],
)
def test_short_or_missing_keys_are_refused(seal: list[bytes], index: bytes) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Seal(seal, index)


def test_a_digest_depends_on_key_purpose_and_secret() -> None:
    other = Seal([b"s" * 32], b"j" * 32)
    found = {
        SEAL.digest("session", "x"),
        SEAL.digest("token", "x"),
        SEAL.digest("session", "y"),
        other.digest("session", "x"),
        SEAL.digest("session\0x", ""),
    }
    assert len(found) == 5
    assert all(len(digest) == 43 for digest in found)
    assert SEAL.digest("session", "x") == SEAL.digest("session", "x")
    rotated = Seal([b"n" * 32, b"s" * 32], b"i" * 32)
    assert rotated.digest("session", "x") == SEAL.digest("session", "x")


def verify(text: str, **changes: Any) -> Assertion:
    right: dict[str, Any] = {"audience": Service.RELAY, "slug": "toys", "now": NOW}
    return verify_assertion(text, KEYS, **(right | changes))


def test_an_assertion_arrives_as_it_was_signed() -> None:
    assert verify(sign_assertion(GOOD, KEY)) == GOOD
    no_slug = GOOD.model_copy(update={"slug": None})
    assert verify(sign_assertion(no_slug, KEY), slug=None) == no_slug


@pytest.mark.parametrize(
    "changes",
    [
        {"audience": Service.AUTH},
        {"audience": Service.APPHOST},
        {"slug": "other"},
        {"slug": None},
        {"slug": ""},
        {"now": NOW + ASSERTION_SECONDS + 5},
        {"now": NOW + 10**6},
        {"now": NOW - 6},  # a life of more than thirty seconds
    ],
)
def test_an_assertion_for_another_place_or_time_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(AssertionRefused):
        verify(sign_assertion(GOOD, KEY), **changes)


def claims(**changes: Any) -> dict[str, Any]:
    text = sign_assertion(GOOD, KEY)
    found = jwt.decode(text, KEYS, algorithms=["ES256"]).claims | changes
    return {name: value for name, value in found.items() if value != "absent"}


@pytest.mark.parametrize("name", ["iss", "aud", "sub", "sid", "slug", "jti", "exp"])
@pytest.mark.parametrize("value", ["absent", 5.5, ["relay"], {"a": 1}, True, None])
def test_an_assertion_with_an_odd_claim_is_refused(name: str, value: object) -> None:
    with pytest.raises(AssertionRefused):
        verify(sign(claims(**{name: value}), KEY), slug="toys")


def test_an_assertion_by_another_key_or_algorithm_is_refused() -> None:
    stranger = new_signing_key()
    with pytest.raises(AssertionRefused):
        verify(sign_assertion(GOOD, stranger))
    named = ECKey.import_key(stranger.raw_value, {"kid": str(KEY.kid)})
    with pytest.raises(AssertionRefused):
        verify(sign_assertion(GOOD, named))
    secret = OctKey.import_key(json.dumps(KEY.as_dict(private=False)))
    hmac = jwt.encode({"alg": "HS256", "kid": KEY.kid}, claims(), secret, algorithms=["HS256"])
    with pytest.raises(AssertionRefused):
        verify(hmac)


DEEP = urlsafe_b64encode(b"[" * 9_000).decode() + ".e30.e30"


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "..", "é.é.é", "x" * 10_000, DEEP])
def test_what_is_no_assertion_is_refused(text: str) -> None:
    with pytest.raises(AssertionRefused):
        verify(text)


def test_the_body_of_an_assertion_cannot_be_swapped() -> None:
    head, _, tail = sign_assertion(GOOD, KEY).split(".")
    other = sign_assertion(GOOD.model_copy(update={"subject": "eve"}), KEY).split(".")[1]
    with pytest.raises(AssertionRefused):
        verify(f"{head}.{other}.{tail}")
