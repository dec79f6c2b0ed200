"""The pipe to Redis: each gets its own answers, whatever breaks, leaves or lies on the way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from shared.stores.link import Batch, PipeBroken, PipeRefused, packed
from shared.stores.pipe import Pipe

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
SECONDS = 0.5
GREETING = b"+OK\r\n+OK\r\n"


@asynccontextmanager
async def piped(serve: Serve) -> AsyncIterator[Pipe]:
    """A pipe to a server that lets anybody in and then does what `serve` does."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"SELECT")
            writer.write(GREETING)
            await reader.readuntil(b"0\r\n")
            await serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    pipe = Pipe.to(f"redis://127.0.0.1:{port}/0", "user", "password", SECONDS)
    assert pipe is not None
    try:
        yield pipe
    finally:
        pipe.close()
        server.close()
        await server.wait_closed()


def gets(*keys: str) -> Batch:
    """Their values are asked for together."""
    return packed([("GET", key) for key in keys])


async def key_of(reader: asyncio.StreamReader) -> bytes:
    """The key of the next GET."""
    for _ in range(4):
        await reader.readuntil(b"\r\n")
    return (await reader.readuntil(b"\r\n"))[:-2]


def text(value: bytes) -> bytes:
    """A reply."""
    return b"$%d\r\n%b\r\n" % (len(value), value)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say each key, a byte at a time."""
    while True:
        for byte in text(await key_of(reader)):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)


async def test_each_of_many_gets_its_own_answers_in_whatever_pieces_they_come() -> None:
    async with piped(echo) as pipe:
        names = [f"key-{number}" for number in range(40)]
        asked = [pipe.ask(gets(name, name + "-too")) for name in names]
        assert await asyncio.gather(*asked) == [
            [name.encode(), f"{name}-too".encode()] for name in names
        ]


async def test_who_leaves_takes_no_answer_from_anybody() -> None:
    async with piped(echo) as pipe:
        await pipe.ask(gets("first"))
        leaving = asyncio.create_task(pipe.ask(gets("left")))
        staying = asyncio.create_task(pipe.ask(gets("stayed")))
        await asyncio.sleep(0)
        leaving.cancel()
        assert await staying == [b"stayed"]


@pytest.mark.parametrize("planted", [text(b"planted"), b"$7\r\nplan", b"$"])
async def test_an_answer_that_nobody_asked_for_is_nobodys(planted: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        key = await key_of(reader)
        writer.write(text(key) + planted)
        await echo(reader, writer)

    async with piped(serve) as pipe:
        assert await pipe.ask(gets("one")) == [b"one"]
        assert await pipe.ask(gets("two")) == [b"two"]


async def test_what_is_refused_to_one_is_not_refused_to_the_next() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in (b"-NOPERM no\r\n", text(b"b"), text(b"c")):
            await key_of(reader)
            writer.write(answer)
        await reader.read(-1)

    async with piped(serve) as pipe:
        both, other = pipe.ask(gets("a", "b")), pipe.ask(gets("c"))
        found = await asyncio.gather(both, other, return_exceptions=True)
        assert (type(found[0]), found[1]) == (PipeRefused, [b"c"])


async def test_no_answer_in_time_is_none_for_all_who_wait_and_the_next_is_asked_anew() -> None:
    calls = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            await reader.read(-1)
        await echo(reader, writer)

    async with piped(serve) as pipe:
        asked = [pipe.ask(gets(name)) for name in ("a", "b")]
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(one) for one in found] == [TimeoutError, TimeoutError]
        assert await pipe.ask(gets("c")) == [b"c"]


async def test_a_connection_that_broke_off_is_replaced_once_and_not_for_ever() -> None:
    calls = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal calls
        calls += 1
        writer.write(text(await key_of(reader)))
        await key_of(reader)  # and no answer to a second one, ever

    async with piped(serve) as pipe:
        assert await pipe.ask(gets("one")) == [b"one"]
        assert await pipe.ask(gets("two")) == [b"two"]
        assert calls == 2

    async def gone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await key_of(reader)

    async with piped(gone) as pipe:
        with pytest.raises(PipeBroken):
            await pipe.ask(gets("one"))


@pytest.mark.parametrize(
    "answer",
    [
        b"?what\r\n",
        b"$x\r\n",
        b"HTTP/1.1 400 Bad Request\r\n",
        b"*1\r\n$1\r\nx\r\n",
        b"*1\r\n-ERR no\r\n",
        b">1\r\n+x\r\n",
        b"#t\r\n",
        b",1.5\r\n",
        b"%1\r\n+a\r\n+b\r\n",
    ],
)
async def test_what_is_no_plain_value_of_redis_is_no_answer(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await key_of(reader)
        writer.write(answer)
        await reader.read(-1)

    async with piped(serve) as pipe:
        with pytest.raises(PipeBroken):
            await pipe.ask(gets("one"))


async def test_what_cannot_be_written_breaks_nothing() -> None:
    async with piped(echo) as pipe:
        assert await pipe.ask(gets("one")) == [b"one"]
        with pytest.raises(UnicodeEncodeError):
            await pipe.ask(gets("\ud800"))
        assert await pipe.ask(gets("two")) == [b"two"]


@pytest.mark.parametrize("url", ["rediss://h:1/0", "unix:///s", "redis://h:1/0?max_connections=5"])
def test_other_addresses_are_left_to_the_client(url: str) -> None:
    assert Pipe.to(url, "user", "password", SECONDS) is None
