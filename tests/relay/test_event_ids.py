"""Where a stream broke off is its session's own: nobody has another's messages sent once more.

The server is the SDK's, with the store of events that its examples show: one for all sessions, and
ids that count up. What is at one's fingertips there is out of reach here.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage

from services.relay.messages.event_ids import EventIds
from shared.signing import Seal
from tests.relay.house import House, house
from tests.relay.old_caller import OldCaller, message
from tests.relay.twins import twin
from tests.relay.upstreams import sdk_app, served

BOTH = {"people": ["ada@strad.test", "bob@strad.test"]}


class Kept(EventStore):
    """Every event of every session, in one list."""

    def __init__(self) -> None:
        self.events: list[tuple[str, JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        at = int(last_event_id)
        stream, _ = self.events[at - 1]
        for number, (other, one) in enumerate(self.events[at:], at + 1):
            if other == stream and one is not None:
                await send_callback(EventMessage(one, str(number)))
        return stream


@asynccontextmanager
async def whispering() -> AsyncIterator[tuple[House, Kept]]:
    """A relay in front of a server that keeps its events."""
    server, kept = MCPServer("whispers"), Kept()

    @server.tool()
    def whisper() -> str:
        return "a secret of the one who asked"

    async with (
        served(sdk_app(server, "legacy", event_store=kept)) as url,
        house([{"slug": "a", "url": url, "access": BOTH, "timeout": 3}]) as h,
    ):
        yield h, kept


async def ids_of_a_call(caller: OldCaller) -> list[str]:
    """The ids of the events that answer a call."""
    async with caller.post(message("tools/call", name="whisper", arguments={})) as response:
        text = await response.text()
    assert "a secret" in text
    return [line[3:].strip() for line in text.splitlines() if line.startswith("id:")]


async def taken_up(caller: OldCaller, event_id: str) -> tuple[int, str]:
    """The status and the first bytes of a stream that goes on after an event."""
    async with caller.stream(Last_Event_ID=event_id) as response:
        return response.status, (await response.content.readany()).decode()


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "at another replica"])
async def test_a_stream_goes_on_where_it_broke_off_in_its_own_session(elsewhere: bool) -> None:
    async with whispering() as (h, _), twin(h) as other:
        ada = await OldCaller.begin(h, "/mcp/a")
        first, *_ = await ids_of_a_call(ada)
        ada.at = other if elsewhere else h.url
        status, text = await taken_up(ada, first)
        assert status == 200
        assert "a secret" in text


async def test_nobody_has_another_sessions_messages_sent_once_more() -> None:
    async with whispering() as (h, kept):
        ada = await OldCaller.begin(h, "/mcp/a")
        seen = await ids_of_a_call(ada)
        again = await OldCaller.begin(h, "/mcp/a")
        bob = await OldCaller.begin(h, "/mcp/a", name="bob")
        guesses = [str(number) for number in range(1, len(kept.events) + 1)]
        for other in (bob, again):
            for event_id in [*guesses, *seen, f"x.{guesses[0]}", ".1", "1.", "é"]:
                status, text = await taken_up(other, event_id)
                assert "a secret" not in text
                assert status == 400, event_id
                assert "Last-Event-ID" in text


def test_only_the_id_of_an_event_is_changed() -> None:
    ids = EventIds(Seal([b"s" * 32], b"i" * 32), "mcp:sess:x")
    for end in ("\n", "\r\n", "\r"):
        lines = [
            "event: message",
            "id: 7",
            'data: {"id":1}',
            "data: id: 8",
            ": id: 9",
            "idle: 1",
            "",
        ]
        event = end.join([*lines, ""]).encode()
        changed = ids.marked(event).decode().split(end)
        assert [a == b for a, b in zip(changed, [*lines, ""], strict=True)].count(False) == 1
        assert ids.after([changed[1].removeprefix("id: ")]) == {"Last-Event-ID": "7"}
    for nothing in (b"id\n\n", b"id:\n\n", b"data: {}\n\n", b"data: id:\n\n"):
        assert ids.marked(nothing) == nothing


@given(st.text(st.characters(exclude_characters="\r\n\0"), min_size=1))
def test_an_id_comes_back_as_it_was_but_for_blanks_at_its_ends(own: str) -> None:
    ids = EventIds(Seal([b"s" * 32], b"i" * 32), "mcp:sess:x")
    other = EventIds(Seal([b"s" * 32], b"i" * 32), "mcp:sess:y")
    (line,) = ids.marked(f"id: {own}\n".encode(errors="surrogatepass")).split(b"\n")[:1]
    given = line.decode(errors="surrogateescape").removeprefix("id: ").strip(" \t")
    if kept := own.strip(" \t"):
        sent = ids.after([given])
        assert sent is not None
        raw = sent["Last-Event-ID"].encode(errors="surrogateescape")
        assert raw == kept.encode(errors="surrogatepass")
    assert other.after([given]) is None
