"""`KeyValue` in memory, for tests that turn the clock."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence

from shared.clock import Clock, system_clock


class MemoryKeyValue:
    """See `KeyValue`. One instance stands for one Redis: share it to share the data."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._values: dict[str, tuple[bytes, float]] = {}
        self._sets: dict[str, tuple[set[str], float]] = {}
        self._hearers: dict[str, set[asyncio.Queue[bytes]]] = {}
        self._used: dict[str, dict[str, float]] = {}
        self._streams: dict[str, list[tuple[int, int, bytes]]] = {}

    async def get(self, key: str) -> bytes | None:
        value, end = self._values.get(key, (None, 0.0))
        return value if end > self._clock() else None

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        return [await self.get(key) for key in keys]

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        self._values[key] = (value, self._clock() + seconds)

    async def add(self, key: str, value: bytes, seconds: int) -> bool:
        if await self.get(key) is not None:
            return False
        await self.put(key, value, seconds)
        return True

    async def replace(self, key: str, value: bytes, seconds: int) -> bool:
        if await self.get(key) is None:
            return False
        await self.put(key, value, seconds)
        return True

    async def count(self, key: str, seconds: int) -> int:
        value, end = self._values.get(key, (b"0", 0.0))
        if end <= self._clock():
            value, end = b"0", self._clock() + seconds
        self._values[key] = (str(int(value) + 1).encode(), end)
        return int(self._values[key][0])

    async def look(
        self, keys: Sequence[str], counted: Sequence[str], ending: Collection[str], seconds: int
    ) -> tuple[list[bytes | None], list[int]]:
        values = await self.get_many(keys)
        return values, [await self.count(key, seconds) for key in counted]

    async def remove(self, *keys: str) -> None:
        for key in keys:
            self._values.pop(key, None)
            self._sets.pop(key, None)

    async def index_add(self, key: str, member: str, seconds: int) -> None:
        members = await self.index(key)
        end = self._sets[key][1] if members else 0.0
        self._sets[key] = (members | {member}, max(end, self._clock() + seconds))

    async def index_remove(self, key: str, member: str) -> None:
        if key in self._sets:
            self._sets[key][0].discard(member)

    async def index(self, key: str) -> set[str]:
        members, end = self._sets.get(key, (set(), 0.0))
        return set(members) if end > self._clock() else set()

    async def used(self, key: str, member: str, now: float, seconds: int, most: int) -> list[str]:
        kept = {m: t for m, t in self._used.get(key, {}).items() if t > now - seconds}
        kept[member] = now
        order = sorted(kept, key=lambda one: (kept[one], one))
        over = order[:-most]
        self._used[key] = {one: kept[one] for one in order[-most:]}
        return over

    async def unused(self, key: str, member: str) -> None:
        self._used.get(key, {}).pop(member, None)

    async def publish(self, channel: str, message: bytes) -> None:
        for hearer in self._hearers.get(channel, ()):
            hearer.put_nowait(message)

    async def hear(self, channel: str) -> AsyncGenerator[bytes | None]:
        heard: asyncio.Queue[bytes] = asyncio.Queue()
        hearers = self._hearers.setdefault(channel, set())
        hearers.add(heard)
        try:
            yield None
            while True:
                yield await heard.get()
        finally:
            hearers.discard(heard)

    async def append(self, key: str, values: Sequence[bytes], most: int) -> None:
        stream = self._streams.setdefault(key, [])
        for value in values:
            last = stream[-1][:2] if stream else (0, 0)
            now = int(self._clock() * 1000)
            stream.append((*((now, 0) if now > last[0] else (last[0], last[1] + 1)), value))
        del stream[:-most]

    async def trim(self, key: str, before: float) -> None:
        kept = [one for one in self._streams.get(key, []) if one[0] >= int(before * 1000)]
        self._streams[key] = kept

    async def entries(self, key: str, start: str, count: int) -> list[tuple[str, bytes]]:
        first = tuple(int(part) for part in start.removeprefix("(").split("-"))
        after = start.startswith("(")
        found = [
            (f"{one[0]}-{one[1]}", one[2])
            for one in self._streams.get(key, [])
            if one[:2] > first or (one[:2] == first and not after)
        ]
        return found[:count]

    async def ping(self) -> None:
        return None

    async def close(self) -> None:
        return None
