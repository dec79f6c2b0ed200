"""What is posted to /mcp, in whatever form and pieces it arrives: the same limits hold."""

import asyncio
import gzip
import json
import re
import zlib
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from services.relay.callers.inbound import MAX_BODY_BYTES
from services.relay.handlers import mcp
from shared import keys
from tests.relay.house import House, house

Sent = tuple[dict[str, str], bytes]


def message(size: int = 0) -> bytes:
    """One of so many bytes."""
    raw = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}).encode()
    return raw + b" " * (size - len(raw))


ZIPPED = gzip.compress(message())


def plain(raw: bytes) -> Sent:
    return {"Content-Length": str(len(raw))}, raw


def chunked(raw: bytes) -> Sent:
    return {"Transfer-Encoding": "chunked"}, b"%x\r\n%b\r\n0\r\n\r\n" % (len(raw), raw)


def zipped(raw: bytes) -> Sent:
    headers, body = plain(gzip.compress(raw))
    return headers | {"Content-Encoding": "gzip"}, body


def deflated(raw: bytes) -> Sent:
    headers, body = plain(zlib.compress(raw))
    return headers | {"Content-Encoding": "deflate"}, body


async def posted(h: House, *requests: Sent, **more: str) -> list[tuple[int, bytes]]:
    """The answers to what is written at once; as nothing is accepted, 406 means: it was read."""
    at = urlsplit(h.url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    base = {"Host": at.netloc, "Accept": "text/plain", "Content-Type": "application/json"}
    for number, (headers, body) in enumerate(requests, 1):
        last = {"Connection": "close"} if number == len(requests) else {}
        lines = [f"{n}: {v}" for n, v in (base | await h.bearer() | headers | more | last).items()]
        writer.write("\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode() + body)
    said = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    found = re.split(rb"HTTP/1\.1 (?=\d{3} )", said)[1:]
    return [(int(one[:3]), one.partition(b"\r\n\r\n")[2]) for one in found]


@pytest.mark.parametrize("form", [plain, chunked, zipped, deflated])
async def test_a_body_may_be_as_large_as_the_limit_and_not_one_byte_larger(
    form: Callable[[bytes], Sent],
) -> None:
    async with house([]) as h:
        for size, status in ((MAX_BODY_BYTES, 406), (MAX_BODY_BYTES + 1, 413)):
            ((got, text),) = await posted(h, form(message(size)))
            assert (got, b"too-large" in text) == (status, status == 413)


async def test_little_that_unpacks_to_very_much_is_too_large() -> None:
    async with house([]) as h:
        ((status, text),) = await posted(h, zipped(b" " * 50 * MAX_BODY_BYTES))
        assert (status, b"too-large" in text) == (413, True)


@pytest.mark.parametrize(
    "body", [message(), ZIPPED[:-8] + bytes(8), ZIPPED + b"junk"], ids=["plain", "other", "more"]
)
async def test_a_body_that_is_not_what_its_encoding_says_is_the_callers_mistake(
    body: bytes,
) -> None:
    async with house([]) as h:
        headers, _ = plain(body)
        ((status, text),) = await posted(h, (headers | {"Content-Encoding": "gzip"}, body))
        assert (status, b"bad-request" in text) == (400, True)


async def test_bodies_that_come_in_one_piece_are_told_apart() -> None:
    async with house([]) as h:
        sent = [form(message()) for form in (plain, chunked, zipped, plain)]
        found = await posted(h, *sent)
        assert [(status, json.loads(text)["id"]) for status, text in found] == [(406, 7)] * 4


@pytest.mark.parametrize("kind", ["text/plain", "application/json, text/plain", "application/x"])
async def test_what_is_not_declared_as_json_is_not_read(kind: str) -> None:
    async with house([]) as h:
        more = {"Content-Type": kind}
        assert [status for status, _ in await posted(h, plain(message()), **more)] == [415]


@pytest.mark.parametrize("kind", ["Application/JSON", "application/json; charset=utf-8"])
async def test_json_may_be_declared_in_other_letters(kind: str) -> None:
    async with house([]) as h:
        more = {"Content-Type": kind}
        assert [status for status, _ in await posted(h, plain(message()), **more)] == [406]


@pytest.mark.parametrize("slow", [False, True])
async def test_who_takes_long_over_a_body_is_let_in_by_what_holds_at_its_end(
    monkeypatch: pytest.MonkeyPatch, slow: bool
) -> None:
    monkeypatch.setattr(mcp, "SURE_SECONDS", 0.1 if slow else 60.0)
    async with house([]) as h:
        at, (headers, body) = urlsplit(h.url), plain(message())
        more = {"Host": at.netloc, "Connection": "close", "Content-Type": "application/json"}
        lines = [f"{n}: {v}" for n, v in (await h.bearer() | headers | more).items()]
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        writer.write("\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode() + body[:9])
        digest = h.token_writer.digest(await h.token())
        async with asyncio.timeout(5):
            while await h.store.get(keys.TOKEN_SEEN.key(digest)) is None:  # then it was let in
                await asyncio.sleep(0.01)
        subject = h.person("ada").subject
        (record,) = (await h.token_writer.of(subject)).values()
        await h.token_writer.revoke(subject, record.id)
        await asyncio.sleep(0.2)  # so long it takes
        writer.write(body[9:])
        status = (await asyncio.wait_for(reader.readline(), 5)).split()[1]
        writer.close()
        assert status == (b"401" if slow else b"406")
