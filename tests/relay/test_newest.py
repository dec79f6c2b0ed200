"""A session's newest stream, where words are missed."""

import asyncio
import weakref
from typing import Any

from services.relay.changes.between import Between
from services.relay.changes.newest import Newest
from shared.stores.memory import MemoryKeyValue


class Stream:
    """What ends when it is told to."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    def end(self) -> None:
        self.ended.set()


async def test_a_stream_whose_own_word_was_missed_is_ended_by_a_newer_one_all_the_same() -> None:
    store, stream = MemoryKeyValue(), Stream()
    here, there = Between(store), Between(store)
    newest, given = Newest(here), stream_of(stream)
    Newest(there)
    async with newest.of("place", given) as changes:
        task = asyncio.create_task(here.run())
        # nobody here could hear for a while: look at everything
        assert await asyncio.wait_for(changes.get(), 5) == ""
        await there.tell("stream-opened", session="place", stream="newer")
        await asyncio.wait_for(stream.ended.wait(), 5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_stream_that_has_ended_is_kept_nowhere() -> None:
    newest, stream = Newest(Between(MemoryKeyValue())), Stream()
    async with newest.of("place", stream_of(stream)):
        left = weakref.ref(stream)
    del stream
    assert left() is None


def stream_of(stream: Stream) -> Any:
    """In the place of one to a caller."""
    return stream
