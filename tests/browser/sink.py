"""A server that waits for what must not come: it counts connections and datagrams, and keeps what
was said on them."""

import asyncio
from types import TracebackType

_ANSWER = (
    b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html\r\n"
    b"Content-Length: 2\r\nConnection: close\r\n\r\nok"
)


class Sink:
    """One TCP port and one UDP port of the same number, on 127.0.0.1."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.url = ""
        self._open: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> "Sink":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        loop = asyncio.get_running_loop()
        self._udp, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(self.heard), local_addr=("127.0.0.1", self.port)
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._udp.close()
        self._server.close()
        for writer in self._open:
            writer.close()
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # a connection alone is a leak already: note it before anything is said
        self._open.add(writer)
        number = len(self.heard)
        self.heard.append("a connection")
        try:
            first = await asyncio.wait_for(reader.readline(), 5)
            self.heard[number] = first.decode(errors="replace").strip() or "a connection"
            writer.write(_ANSWER)
            await writer.drain()
        except (TimeoutError, ConnectionError, asyncio.LimitOverrunError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, heard: list[str]) -> None:
        self._heard = heard

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._heard.append(f"a datagram of {len(data)} bytes")
