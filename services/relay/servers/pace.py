"""How many servers are asked at once for one answer.

A view can hold hundreds: asked all in one moment, they would hold up everybody else, and their
answers would lie in memory together. Who takes long must not hold up the others either: it goes on
in its own time, and the next one begins meanwhile.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

AT_ONCE = 32
LONG_SECONDS = 0.5


class Pace:
    """For one answer. At most AT_ONCE begin in LONG_SECONDS, or as others come to their end."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(AT_ONCE)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Around what is asked of one server; its time begins inside."""
        await self._room.acquire()
        held = True

        def give_back() -> None:
            nonlocal held
            if held:
                held = False
                self._room.release()

        long = asyncio.get_running_loop().call_later(LONG_SECONDS, give_back)
        try:
            yield
        finally:
            long.cancel()
            give_back()
