"""Numbers as they were written: JSON has no largest number and no last digit, a float has both.

Read into a float and written again, `1e999` would be no JSON at all and a long fraction would be
another number. So what no Python number holds is kept as text, and written as it came.
"""

import json
import secrets
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

_LONGEST = 4000  # digits of an integer that Python reads and writes without complaint
_MARK = f"strad-number-{secrets.token_hex(16)}"
# a value that holds itself ends like one that is nested too deep: looking for it costs a quarter
_PLAIN = {
    (ascii_only, in_order): json.JSONEncoder(
        separators=(",", ":"), ensure_ascii=ascii_only, sort_keys=in_order, check_circular=False
    )
    for ascii_only in (False, True)
    for in_order in (False, True)
}


class Number:
    """A number that only its `text` says exactly. It takes part in no comparison of numbers."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __float__(self) -> float:
        """The nearest that a float holds, which is what JavaScript makes of it."""
        return float(self.text)

    def __repr__(self) -> str:
        return f"Number({self.text[:64]!r})"


def fraction(text: str) -> float | Number:
    """A number with a point or an exponent."""
    value = float(text)
    if repr(value) == text:
        return value
    try:
        return value if Decimal(repr(value)) == Decimal(text) else Number(text)
    except InvalidOperation:  # an exponent that even a decimal does not hold
        return Number(text)


def integer(text: str) -> int | Number:
    """A whole number."""
    return int(text) if len(text) <= _LONGEST else Number(text)


class Reader:
    """Reads JSON (RFC 8259). `members`: what is made of an object's, as `object_pairs_hook`."""

    def __init__(self, members: Callable[[list[tuple[str, Any]]], Any] | None = None) -> None:
        # made once: a reader with settings of its own costs as much as a small message
        settings: dict[str, Any] = {
            "object_pairs_hook": members,
            "parse_float": fraction,
            "parse_constant": _no_constant,
        }
        self._quick = json.JSONDecoder(**settings)
        self._patient = json.JSONDecoder(parse_int=integer, **settings)

    def read(self, text: str) -> Any:
        """The value. Raises `ValueError`, and `RecursionError` for absurd nesting."""
        try:
            return _decoded(self._quick, text)
        except json.JSONDecodeError:
            raise
        except ValueError:  # also an integer of thousands of digits
            return _decoded(self._patient, text)


def _decoded(decoder: json.JSONDecoder, text: str) -> Any:
    if text.startswith("{"):  # as a message does: no need to look for blanks
        value, end = decoder.raw_decode(text)
        if end == len(text):
            return value
    return decoder.decode(text)


def dumps(
    value: Any, *, ascii_only: bool = True, in_order: bool = False, indent: int | None = None
) -> str:
    """The compact JSON of a value that may hold `Number`s. `in_order`: members by their names."""
    if indent is not None:
        return _with_numbers(value, ascii_only=ascii_only, in_order=in_order, indent=indent)
    try:
        return _PLAIN[ascii_only, in_order].encode(value)
    except TypeError:  # it holds a `Number`, or what is no JSON
        return _with_numbers(value, ascii_only=ascii_only, in_order=in_order, indent=None)


def _with_numbers(value: Any, *, ascii_only: bool, in_order: bool, indent: int | None) -> str:
    kept: list[str] = []

    def put_off(item: object) -> str:
        if not isinstance(item, Number):
            raise TypeError(f"{type(item).__name__} is not JSON")
        kept.append(item.text)
        return _MARK

    text = json.dumps(
        value,
        separators=(",", ":") if indent is None else None,
        ensure_ascii=ascii_only,
        sort_keys=in_order,
        indent=indent,
        default=put_off,
    )
    if not kept:
        return text
    # the mark is secret and never sent: no text of anybody's can hold it
    parts = text.split(f'"{_MARK}"')
    return "".join(part for pair in zip(parts, [*kept, ""], strict=True) for part in pair)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
