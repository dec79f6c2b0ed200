"""Secrets, identifiers, and the shape of a personal access token."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import keys
from shared.ids import ALPHABET, is_token, new_id, new_secret, new_token


def test_nothing_is_given_out_twice() -> None:
    for make in (new_id, new_secret, new_token):
        assert len({make() for _ in range(2000)}) == 2000


def test_a_secret_has_256_bits_and_needs_no_escaping() -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", new_secret())
    assert re.fullmatch(r"[A-Za-z0-9_-]{16}", new_id())


def test_an_id_can_be_part_of_a_key() -> None:
    for _ in range(200):
        assert keys.TOKEN.key(new_id())
        assert keys.TOKEN.key(new_secret())


def test_a_token_has_a_mark_that_scanners_know_and_a_checksum() -> None:
    text = new_token()
    assert re.fullmatch(r"strad_pat_[0-9A-Za-z]{49}", text)
    assert is_token(text)


@given(st.integers(0, 58), st.sampled_from(ALPHABET))
def test_one_changed_letter_is_seen_without_asking_the_store(at: int, letter: str) -> None:
    text = new_token()
    changed = text[:at] + letter + text[at + 1 :]
    assert is_token(changed) == (changed == text)


@pytest.mark.parametrize("wrap", ["{} ", " {}", "{}\n", "{}x", "x{}", "Bearer {}"])
def test_a_token_stands_alone(wrap: str) -> None:
    assert not is_token(wrap.format(new_token()))


@given(st.text())
def test_no_other_text_is_a_token(text: str) -> None:
    assert not is_token(text)


def test_letters_of_other_scripts_are_no_letters_of_a_token() -> None:
    assert not is_token("strad_pat_" + "\u0661" * 43 + "000000")
