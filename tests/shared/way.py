"""A way to a Redis that can be silent, break off, and lead to another one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from shared.stores.redis import RedisKeyValue, connect


class Way:
    """Between a store and a Redis: it can be silent, and break off inside an answer."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.opened = 0
        self.break_after: int | None = None
        self.flows = asyncio.Event()
        self.flows.set()
        self._pumps: set[asyncio.Task[None]] = set()
        self._peers: set[tuple[str, int]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def served(self) -> AsyncIterator[RedisKeyValue]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        store = connect(f"redis://127.0.0.1:{port}/0", "tester", "tester")
        try:
            yield store
        finally:
            await store.close()
            await self._all_are_in(port)
            server.close()
            for pump in self._pumps:
                pump.cancel()
            await asyncio.gather(*self._pumps, return_exceptions=True)
            self.cut()
            ended = (writer.wait_closed() for writer in self._writers)
            await asyncio.gather(*ended, return_exceptions=True)

    async def _all_are_in(self, port: int) -> None:
        """Who connected before this one is in: a server that closes forgets who is half in."""
        _, last = await asyncio.open_connection("127.0.0.1", port)
        while last.get_extra_info("sockname") not in self._peers:
            await asyncio.sleep(0)
        last.transport.abort()
        self._writers.add(last)

    def cut(self) -> None:
        """Break off every connection that is open now."""
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self._writers.add(writer)
        self._peers.add(writer.get_extra_info("peername"))
        try:
            behind, there = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            writer.transport.abort()
            return
        self._writers.add(there)
        # only what is open now falls silent: a new connection works, as after a failover
        for pump in (self._pump(reader, there, self.flows), self._answers(behind, writer)):
            self._pumps.add(asyncio.create_task(pump))

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._pump(reader, writer, self.flows, answers=True)

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        flows: asyncio.Event,
        *,
        answers: bool = False,
    ) -> None:
        with contextlib.suppress(ConnectionError), contextlib.closing(writer):
            while data := await reader.read(1 << 16):
                await flows.wait()
                if answers and self.break_after is not None:
                    self.break_after -= len(data)
                    if self.break_after < 0:
                        self.break_after = None
                        writer.write(data[: len(data) // 2])
                        await writer.drain()
                        return
                writer.write(data)
                await writer.drain()
