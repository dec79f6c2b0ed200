"""The shop itself, in memory: what it sells and what it holds for whom."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from demo.catalog.locales import LOCALES, phrase

HOLD_SECONDS = 1800


class ShopRefusal(Exception):
    """Why not, in the caller's language."""


@dataclass(frozen=True)
class Toy:
    """`cents` are euro cents; `texts` has name and description for every locale."""

    id: str
    art: str
    cents: int
    stock: int
    added: date
    texts: dict[str, tuple[str, str]]


def load_toys() -> tuple[Toy, ...]:
    """The toys of `toys.json`, newest first."""
    entries: list[dict[str, Any]] = json.loads(
        (Path(__file__).parent / "toys.json").read_text(encoding="utf-8")
    )
    toys = [
        Toy(
            id=entry["id"],
            art=entry["art"],
            cents=entry["cents"],
            stock=entry["stock"],
            added=date.fromisoformat(entry["added"]),
            texts={locale: tuple(entry["texts"][locale]) for locale in LOCALES},
        )
        for entry in entries
    ]
    return tuple(sorted(toys, key=lambda toy: toy.added, reverse=True))


class Shop:
    """`clock` gives seconds since 1970. A hold ends by itself after half an hour."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.toys = load_toys()
        self._clock = clock
        self._holds: dict[tuple[str, str], float] = {}

    def search(self, query: str, locale: str) -> list[Toy]:
        """The toys whose name or description, in that language, has every word of the query."""
        words = query.casefold().split()
        return [
            toy
            for toy in self.toys
            if all(word in " ".join(toy.texts[locale]).casefold() for word in words)
        ]

    def left(self, toy: Toy) -> int:
        self._end_old_holds()
        return toy.stock - sum(1 for _, held in self._holds if held == toy.id)

    def held_until(self, account: str, toy: Toy) -> str | None:
        """The end of this account's hold as HH:MM in UTC."""
        self._end_old_holds()
        ends = self._holds.get((account, toy.id))
        # Rounded up: a hold that is promised until 14:31 must not end at 14:30:40.
        return f"{datetime.fromtimestamp(math.ceil(ends / 60) * 60, UTC):%H:%M}" if ends else None

    def set_aside(self, account: str, toy_id: str, locale: str) -> Toy:
        """Holds one piece for this account. Raises ShopRefusal."""
        toy = next((toy for toy in self.toys if toy.id == toy_id), None)
        if toy is None:
            raise ShopRefusal(phrase(locale, "no_such_toy", id=toy_id[:40]))
        name, until = toy.texts[locale][0], self.held_until(account, toy)
        if until:
            raise ShopRefusal(phrase(locale, "already", name=name, until=until))
        if self.left(toy) < 1:
            raise ShopRefusal(phrase(locale, "sold_out", name=name))
        self._holds[account, toy.id] = self._clock() + HOLD_SECONDS
        return toy

    def _end_old_holds(self) -> None:
        now = self._clock()
        self._holds = {key: ends for key, ends in self._holds.items() if ends > now}
