"""The short way to Redis, for what every request asks: one connection for all who ask.

A general client takes a connection from a pool, and builds and reads each command with care for
cases that do not occur here. For a warm call that was a fifth of all its work.
"""

import asyncio
from functools import partial
from typing import Any

from redis.asyncio.connection import parse_url

from shared.stores.link import Batch, Link, PipeBroken, Reply, packed

_PORT = 6379
_PARTS = frozenset({"host", "port", "db"})


class Pipe:
    """Connects when it is first asked, and again after a break."""

    def __init__(self, at: tuple[str, int, int], user: str, password: str, seconds: float) -> None:
        self._host, self._port, db = at
        self._greeting = packed([("AUTH", user, password), ("SELECT", db)])
        self._seconds = seconds
        self._link: Link | None = None
        self._connecting: asyncio.Task[Link] | None = None

    @classmethod
    def to(cls, url: str, user: str, password: str, seconds: float) -> "Pipe | None":
        """None for an address of TLS, of a socket, or with settings in it: the client knows how."""
        parts: dict[str, Any] = dict(parse_url(url))
        if not parts.keys() <= _PARTS or "host" not in parts:
            return None
        at = (parts["host"], parts.get("port", _PORT), parts.get("db", 0))
        return cls(at, user, password, seconds)

    async def ask(self, batch: Batch) -> list[Reply]:
        """The answers to all commands, in one round trip and in time. Raises an `OSError`.

        A connection that breaks off, or on which somebody has waited too long, is replaced once.
        """
        until = asyncio.get_running_loop().time() + self._seconds
        if self._link is not None:
            try:
                return await self._link.ask(batch)
            except PipeBroken:
                pass
        async with asyncio.timeout_at(until):
            return await (await self._connected()).ask(batch)

    def close(self) -> None:
        """Let go of the connection."""
        if self._connecting is not None:
            self._connecting.cancel()
        if self._link is not None:
            self._link.close()

    async def _connected(self) -> Link:
        """A connection; who needs one at the same time shares it."""
        if self._link is not None and self._link.open:
            return self._link
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._connect())
            self._connecting.add_done_callback(self._tried)
        return await asyncio.shield(self._connecting)

    def _tried(self, task: asyncio.Task[Link]) -> None:
        self._connecting = None
        if not task.cancelled():
            task.exception()  # whoever waited for it may have left

    async def _connect(self) -> Link:
        async with asyncio.timeout(self._seconds):
            make, loop = partial(Link, self._seconds), asyncio.get_running_loop()
            _, link = await loop.create_connection(make, self._host, self._port)
            try:
                await link.ask(self._greeting)
            except BaseException:
                link.close()
                raise
        self._link = link
        return link
