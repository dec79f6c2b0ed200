"""Streams that have no end of their own: nobody who stops waits for them."""

import asyncio
from typing import Any

from aiohttp import web


class Endless:
    """Those of this process."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def add(self) -> None:
        """The request that is being answered is one, until it is done."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, _: web.Application) -> None:
        """End them all."""
        for task in self._tasks:
            task.cancel()
