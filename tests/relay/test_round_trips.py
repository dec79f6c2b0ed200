"""What a warm call costs in round trips to a real store, counted on the wire between the two."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from shared import keys
from shared.stores.redis import connect
from tests.relay.house import House, house
from tests.relay.test_limits import early
from tests.relay.test_replicas import INITIALIZE
from tests.relay.upstreams import modern_fake, sdk_app, served, toy_server
from tests.shared.valkey import valkey

CALLS = 10
DONE = {"result": {"resultType": "complete", "content": []}}
# nobody waits for these: the trail is appended in batches, and the count is read twice a second
_BESIDE = (b"XADD", b"XTRIM", keys.GRANT.key("epoch").encode())
_RULES = {"keep": 60, "keep_denied": 1}


@asynccontextmanager
async def overheard(port: int) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A way to the store: its port, and what was sent at once, each time that something was."""
    sent: list[bytes] = []
    pumps: set[asyncio.Task[None]] = set()

    async def pump(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: list[bytes] | None
    ) -> None:
        try:
            while data := await reader.read(1 << 16):
                if heard is not None:
                    heard.append(data)
                writer.write(data)
        finally:
            writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, before = await asyncio.open_connection("127.0.0.1", port)
        for one in (pump(reader, before, sent), pump(behind, writer, None)):
            pumps.add(asyncio.create_task(one))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], sent
    finally:
        server.close()
        for task in pumps:
            task.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _session(h: House) -> dict[str, str]:
    """The headers of a session of 2025-11-25."""
    headers = await h.bearer() | {"Accept": "application/json, text/event-stream"}
    async with h.http.post(h.url + "/mcp/a", json=INITIALIZE, headers=headers) as answer:
        return {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}


async def _calls(h: House, session: dict[str, str], count: int) -> None:
    params = {"name": "echo", "arguments": {"text": "x"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    for _ in range(count):
        if session:
            found = await h.send("/mcp/a", body, headers=session)
        else:
            found = await h.modern("/mcp/a", "tools/call", params)
        assert found[0] == 200, found


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_ten_warm_calls_wait_for_the_store_ten_times(era: str, tmp_path: Path) -> None:
    modern = era == "2026-07-28"
    fake = modern_fake([], lambda *_: DONE)
    upstream = fake.served() if modern else served(sdk_app(toy_server()))
    with valkey(tmp_path) as server:
        port = urlsplit(server.url).port
        assert port is not None
        async with upstream as url, overheard(port) as (way, sent):
            store = connect(f"redis://127.0.0.1:{way}/0", "tester", "tester")
            async with house([{"slug": "a", "url": url}], store=store, entitlements=_RULES) as h:
                early(h)
                session = {} if modern else await _session(h)
                await _calls(h, session, 3)
                sent.clear()
                await _calls(h, session, CALLS)
                grant = keys.GRANT.key(h.person("ada").subject).encode()
                # what nobody waits for can go along with what a call asks
                alone = [data for data in sent if any(one in data for one in _BESIDE)]
                waited = [data for data in sent if grant in data or data not in alone]
                assert len(waited) == CALLS, waited
                # token, grant, the person's count and the server's: all in that one
                assert all(grant in data and data.count(b"INCR") == 2 for data in waited)
                assert sum(b"XADD" in data for data in sent) <= CALLS
