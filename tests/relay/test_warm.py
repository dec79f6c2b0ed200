"""A warm call asks Redis once: token, grant and session come in one round trip."""

import asyncio
from collections.abc import Sequence

import pytest

from shared import keys
from shared.stores.memory import MemoryKeyValue
from tests.relay.house import House, house
from tests.relay.test_replicas import INITIALIZE
from tests.relay.upstreams import sdk_app, served, toy_server

POLLED = keys.GRANT.key("epoch")  # twice a second, whatever is called


class Counted(MemoryKeyValue):
    """Notes what is read."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, ...]] = []

    async def get(self, key: str) -> bytes | None:
        if key != POLLED:
            self.asked.append((key,))
        return await super().get(key)

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        self.asked.append(tuple(keys))
        return [await super(Counted, self).get(key) for key in keys]

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        self.asked.append((key,))
        await super().put(key, value, seconds)


async def _call(h: House, session: str | None) -> None:
    params = {"name": "echo", "arguments": {"text": "x"}}
    if session is None:
        assert (await h.modern("/mcp/a", "tools/call", params))[0] == 200
        return
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    assert (await h.send("/mcp/a", body, headers={"Mcp-Session-Id": session}))[0] == 200


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_warm_call_is_one_round_trip(era: str) -> None:
    store = Counted()
    rules = {"keep": 60, "keep_denied": 1}
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "a", "url": url}], store=store, entitlements=rules) as h,
    ):
        session = None
        if era == "2025-11-25":
            headers = await h.bearer() | {"Accept": "application/json, text/event-stream"}
            async with h.http.post(h.url + "/mcp/a", json=INITIALIZE, headers=headers) as response:
                session = response.headers["Mcp-Session-Id"]
        for _ in range(3):
            await _call(h, session)
        await asyncio.sleep(0.1)
        store.asked.clear()
        await _call(h, session)
        assert len(store.asked) == 1, store.asked
        (read,) = store.asked
        assert keys.GRANT.key(h.person("ada").subject) in read
