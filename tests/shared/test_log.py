"""What a service writes about requests that are no HTTP: that they came, and nothing of them."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator
from io import StringIO

import pytest
from aiohttp import web

from shared import log
from shared.contracts.problems import ProblemKind
from shared.web.serve import MAX_LINE

SECRET = "strad_pat_secret"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[StringIO]:
    """What a service logs; what pytest had set up is put back."""
    monkeypatch.setattr(log, "_lines", None)
    root, ours = logging.getLogger(), logging.getLogger("strad")
    before = root.handlers[:], root.level, ours.level
    log.configure()
    handler = root.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    stream = StringIO()
    handler.setStream(stream)
    yield stream
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


@pytest.fixture
async def port(written: StringIO) -> AsyncIterator[int]:
    """A server as every service has it."""
    runner = web.AppRunner(
        web.Application(), access_log=None, max_line_size=MAX_LINE, max_field_size=MAX_LINE
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield int(runner.addresses[0][1])
    await runner.cleanup()


@pytest.mark.parametrize(
    "request_text",
    [
        b"GET /auth/callback?code=SECRET&state=\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nCookie: __Host-strad=SECRET; "
        + b"a" * MAX_LINE
        + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer SECRET\x01\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer SECRET\r\n\r\n",
    ],
)
async def test_a_request_that_cannot_be_read_is_logged_without_its_content(
    port: int, request_text: bytes, written: StringIO
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request_text.replace(b"SECRET", SECRET.encode()))
    await reader.read()
    writer.close()
    text = written.getvalue()
    assert any("error" in json.loads(line) for line in text.splitlines())
    assert SECRET not in text


def test_an_error_of_ours_is_logged_with_its_traceback(written: StringIO) -> None:
    try:
        raise RuntimeError("a fault")
    except RuntimeError:
        log.failure("internal-error")
    assert "RuntimeError: a fault" in json.loads(written.getvalue())["error"]


async def test_requests_that_end_together_are_logged_in_order_and_before_anything_else(
    written: StringIO,
) -> None:
    log.request(lambda: {"number": 1})
    log.request(lambda: {"number": 2})
    assert written.getvalue() == ""
    log.event("other")
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["request", "request", "other"]
    log.request(lambda: {"number": 3})
    async with asyncio.timeout(2):
        while '"number":3' not in written.getvalue():
            await asyncio.sleep(0.01)


async def test_a_line_that_cannot_be_made_takes_no_other_with_it(written: StringIO) -> None:
    log.request(lambda: {"number": 1})
    log.request(lambda: {"number": 1 // 0})
    log.request(lambda: {"number": 3})
    log.event("other")
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["request", "line-lost", "request", "other"]
    assert (lines[1]["of"], lines[1]["error"]) == ("request", "ZeroDivisionError")


def test_a_request_outside_of_a_loop_is_logged_at_once(written: StringIO) -> None:
    log.request(lambda: {"text": "half a \ud800 pair", "kind": ProblemKind.NOT_FOUND})
    line = json.loads(written.getvalue())
    assert (line["text"], line["kind"]) == ("half a \ud800 pair", "not-found")


def test_a_line_says_when_to_the_millisecond(
    written: StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = (0.0, 1_700_000_000.0, 1_700_000_000.0625, 1_700_000_000.9999, 1_709_251_199.5)
    for moment in moments:
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        log.request(dict)
    found = [json.loads(line)["time"] for line in written.getvalue().splitlines()]
    assert found == [
        "1970-01-01T00:00:00.000+00:00",
        "2023-11-14T22:13:20.000+00:00",
        "2023-11-14T22:13:20.062+00:00",
        "2023-11-14T22:13:20.999+00:00",
        "2024-02-29T23:59:59.500+00:00",
    ]
