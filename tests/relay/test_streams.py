"""Events are cut between, never inside, however the bytes arrive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.relay.messages.streams import (
    EventTooLarge,
    Splitter,
    data_of,
    event_of,
    is_resumable,
    with_data,
)

LINES = st.sampled_from(
    [b"", b"data: {}", b"data:x", b"data", b"id: 1", b": ping", b"event: message", b"retry: 5"]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
STREAMS = st.lists(st.tuples(LINES, ENDS)).map(lambda parts: b"".join(a + b for a, b in parts))


def _cut(stream: bytes, sizes: list[int]) -> tuple[list[bytes], bytes]:
    splitter = Splitter(10_000)
    events, start = [], 0
    for size in [*sizes, len(stream)]:
        events += splitter.feed(stream[start : start + size])
        start += size
    return events, splitter.rest()


def _data(events: list[bytes]) -> list[bytes]:
    """Of each event that says anything: blank lines may be cut into more of them or fewer."""
    return [data for data in map(data_of, events) if data]


@given(STREAMS, st.lists(st.integers(1, 7), max_size=200))
def test_the_pieces_are_the_stream_whatever_the_chunks(stream: bytes, sizes: list[int]) -> None:
    events, rest = _cut(stream, sizes)
    assert b"".join(events) + rest == stream


@given(STREAMS, st.lists(st.integers(1, 7), max_size=200))
def test_the_data_is_the_same_whatever_the_chunks(stream: bytes, sizes: list[int]) -> None:
    assert _data(_cut(stream, sizes)[0]) == _data(_cut(stream, [])[0])


@given(st.binary(), st.lists(st.integers(1, 7), max_size=100))
def test_any_bytes_survive(stream: bytes, sizes: list[int]) -> None:
    events, rest = _cut(b"." + stream, sizes)
    assert b"".join(events) + rest == b"." + stream


@given(STREAMS, st.lists(st.integers(1, 2), max_size=5))
def test_a_byte_order_mark_hides_no_event(stream: bytes, sizes: list[int]) -> None:
    marked, _ = _cut(b"\xef\xbb\xbf" + stream, sizes)
    assert _data(marked) == _data(_cut(stream, [])[0])


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_an_event_is_complete_at_its_blank_line_and_not_later(end: bytes) -> None:
    splitter = Splitter(1000)
    assert splitter.feed(b"id: 1" + end + b"data: a" + end + b"data: b" + end) == []
    (event,) = splitter.feed(end)
    assert data_of(event) == b"a\nb"
    assert is_resumable(event)


def test_an_event_beyond_the_limit_is_refused_and_a_line_has_no_limit_of_its_own() -> None:
    line = b"data: " + b"x" * 3_000_000 + b"\n\n"
    splitter = Splitter(4_000_000)
    events = []
    for start in range(0, len(line), 65536):
        events += splitter.feed(line[start : start + 65536])
    assert events == [line]
    with pytest.raises(EventTooLarge):
        Splitter(100).feed(b"x" * 101)


def test_other_data_leaves_the_rest_of_an_event_alone() -> None:
    changed = with_data(b"event: message\r\nid: 7\r\ndata: a\r\ndata: b\r\n\r\n", b"{}")
    assert changed == b"event: message\nid: 7\ndata: {}\n\n"
    assert data_of(event_of(b"{}")) == b"{}"
    assert data_of(b": database\ndatabase: 1\n\n") == b""
    assert not is_resumable(event_of(b"id: 1"))
