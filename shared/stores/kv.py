"""The few operations that strad needs of Redis, as a protocol."""

from collections.abc import AsyncGenerator, Collection, Sequence
from typing import Protocol


class StoreUnavailable(Exception):
    """Redis did not answer, refused, or was too slow. Never read as "absent"."""


class KeyValue(Protocol):
    """Bytes under keys with an end. Every method may raise `StoreUnavailable`.

    Lifetimes are whole seconds, at least 1.
    """

    async def get(self, key: str) -> bytes | None:
        """The value, or None when absent or past its end."""

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values in the order of the keys, in one round trip."""

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        """Store or replace."""

    async def add(self, key: str, value: bytes, seconds: int) -> bool:
        """Store only if absent, in one step: of two callers only one gets True."""

    async def replace(self, key: str, value: bytes, seconds: int) -> bool:
        """Store only if something is there, in one step; whether it was."""

    async def count(self, key: str, seconds: int) -> int:
        """One more, in one step; how many since the first. The first sets the end, once."""

    async def look(
        self, keys: Sequence[str], counted: Sequence[str], ending: Collection[str], seconds: int
    ) -> tuple[list[bytes | None], list[int]]:
        """`get_many` of `keys`, and `count` of each key of `counted`, in one round trip.

        Only those of `ending` are given an end: the others are known to have one.
        """

    async def remove(self, *keys: str) -> None:
        """Remove; absent keys are fine."""

    async def index_add(self, key: str, member: str, seconds: int) -> None:
        """Put a member into a set and let the set live at least that long."""

    async def index_remove(self, key: str, member: str) -> None:
        """Take a member out of a set; an absent one is fine."""

    async def index(self, key: str) -> set[str]:
        """The members of a set; empty when absent."""

    async def used(self, key: str, member: str, now: float, seconds: int, most: int) -> list[str]:
        """Note that a member was used now, among at most `most` that were used within `seconds`.

        Returns those that are one too many, the longest unused first: they are not members any
        more.
        """

    async def unused(self, key: str, member: str) -> None:
        """Take a member out again; an absent one is fine."""

    async def publish(self, channel: str, message: bytes) -> None:
        """Tell everybody who hears this channel now; nobody else ever learns of it."""

    def hear(self, channel: str) -> AsyncGenerator[bytes | None]:
        """What is published on a channel, for as long as it is read.

        None comes first, and again after every break: what was published until then may be missing,
        and from here on nothing is. It raises nothing: while the store is away it waits.
        """

    async def append(self, key: str, values: Sequence[bytes], most: int) -> None:
        """Append to a stream, in one round trip, and keep about `most` entries, the newest."""

    async def trim(self, key: str, before: float) -> None:
        """Remove what was appended to a stream before then (Unix seconds)."""

    async def entries(self, key: str, start: str, count: int) -> list[tuple[str, bytes]]:
        """Entries of a stream from an id on, oldest first. `(id`: after that one."""

    async def ping(self) -> None:
        """Return when the store answers."""

    async def close(self) -> None:
        """Let go of connections."""
