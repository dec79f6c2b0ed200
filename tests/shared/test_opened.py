"""What was opened once is not opened again; nothing that would not open is believed for it."""

from typing import Any

import pytest

from shared.signing import Seal, SealBroken, SealExpired
from shared.stores.opened import Opened

KEY, OTHER = "tok:one", "tok:two"
NOW = 1_000_000.0


class Stand:
    """A clock that is turned, and how often a record was read."""

    def __init__(self) -> None:
        self.now, self.read = NOW, 0
        self.seal = Seal([b"k" * 32], b"i" * 32)
        self.opened = Opened[str](self.seal, lambda: self.now)

    def open(self, key: str, sealed: bytes) -> str:
        return self.opened.open(key, sealed, self._name)

    def _name(self, record: dict[str, Any]) -> str:
        self.read += 1
        return str(record["name"])


def test_the_same_bytes_under_another_key_are_refused() -> None:
    stand = Stand()
    sealed = stand.seal.seal(KEY, {"name": "ada"}, NOW + 10)
    assert stand.open(KEY, sealed) == "ada"
    with pytest.raises(SealBroken):
        stand.open(OTHER, sealed)


def test_a_record_ends_on_time_although_it_was_opened_before() -> None:
    stand = Stand()
    sealed = stand.seal.seal(KEY, {"name": "ada"}, NOW + 10)
    assert stand.open(KEY, sealed) == "ada"
    stand.now += 10
    with pytest.raises(SealExpired):
        stand.open(KEY, sealed)


def test_forged_bytes_are_refused_and_the_true_ones_open_afterwards() -> None:
    stand = Stand()
    sealed = stand.seal.seal(KEY, {"name": "ada"}, NOW + 10)
    assert stand.open(KEY, sealed) == "ada"
    for forged in (
        sealed[:-1],
        sealed + b"x",
        b"",
        Seal([b"x" * 32], b"i" * 32).seal(KEY, {}, 9e9),
    ):
        with pytest.raises(SealBroken):
            stand.open(KEY, forged)
    assert stand.open(KEY, sealed) == "ada"


def test_another_record_under_the_key_is_what_counts() -> None:
    stand = Stand()
    for name in ("ada", "charles"):
        assert stand.open(KEY, stand.seal.seal(KEY, {"name": name}, NOW + 10)) == name


def test_the_same_bytes_are_read_once() -> None:
    stand = Stand()
    sealed = stand.seal.seal(KEY, {"name": "ada"}, NOW + 10)
    assert [stand.open(KEY, sealed) for _ in range(3)] == ["ada"] * 3
    assert stand.read == 1
