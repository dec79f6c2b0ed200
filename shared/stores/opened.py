"""Sealed records that come again and again, opened once.

The store is asked each time. What is spared is only to open the same bytes under the same key
again: other bytes are opened anew, and the end inside is looked at each time.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from shared.clock import Clock
from shared.signing import Seal, SealExpired

T = TypeVar("T")

_MOST = 4_096


class Opened(Generic[T]):
    """Opens records of one kind. At most so many are remembered."""

    def __init__(self, seal: Seal, clock: Clock, most: int = _MOST) -> None:
        self._seal = seal
        self._clock = clock
        self._most = most
        self._kept: OrderedDict[str, tuple[bytes, float, T]] = OrderedDict()

    def open(self, key: str, sealed: bytes, read: Callable[[dict[str, Any]], T]) -> T:
        """What `read` makes of the record, once: it must depend on nothing but that and the key,
        and nobody may change it. Raises `SealBroken`, and what `read` raises."""
        now = self._clock()
        kept = self._kept.get(key)
        if kept is not None and kept[0] == sealed:
            if kept[1] <= now:
                raise SealExpired("past its end")
            self._kept.move_to_end(key)
            return kept[2]
        self._kept.pop(key, None)
        record, end = self._seal.open_with_end(key, sealed, now)
        value = read(record)
        self._kept[key] = (sealed, end, value)
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return value
