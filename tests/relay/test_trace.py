"""A caller's trace reaches the servers that its request needs, and no other request's does."""

from typing import Any

import pytest

from tests.relay.house import house
from tests.relay.old_caller import OldCaller
from tests.relay.upstreams import Fake, LegacyFake, modern_fake

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
DONE = {"resultType": "complete", "content": []}


def _fake(era: str) -> Fake:
    tools = [{"name": "go", "inputSchema": {}}]
    return modern_fake(tools, lambda *_: {"result": DONE}) if era == "modern" else LegacyFake()


def _traces(fake: Fake, method: str) -> list[Any]:
    together = zip(fake.seen, fake.messages, strict=True)
    return [
        (request.headers.get("traceparent"), request.headers.get("tracestate"))
        for request, message in together
        if message.get("method") == method
    ]


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize(("path", "name"), [("/mcp/a", "go"), ("/mcp", "a__go")])
async def test_a_trace_goes_along_in_every_view_and_between_all_versions(
    era: str, path: str, name: str
) -> None:
    fake = _fake(era)
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        headers = {"traceparent": PARENT, "tracestate": "a=1,b=2"}
        params = {"name": name, "_meta": {"traceparent": PARENT}}
        assert (await h.modern(path, "tools/call", params, headers=headers))[0] == 200
        # the same connection, and no trace any more
        assert (await h.modern(path, "tools/call", {"name": name}))[0] == 200
        assert _traces(fake, "tools/call") == [(PARENT, "a=1,b=2"), (None, None)]
        calls = [m["params"] for m in fake.messages if m.get("method") == "tools/call"]
        assert calls[0]["_meta"]["traceparent"] == PARENT
        await h.modern(path, "tools/list", headers=headers)
        assert _traces(fake, "tools/list")[-1] == (PARENT, "a=1,b=2")

        caller = await OldCaller.begin(h, path)
        sent = {"traceparent": PARENT, "Mcp-Session-Id": caller.session}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}}
        assert (await h.send(path, message, headers=sent))[0] == 200
        assert _traces(fake, "tools/call")[-1] == (PARENT, None)


@pytest.mark.parametrize(
    "parent",
    [
        "",
        "x",
        PARENT.upper(),
        PARENT + "-1",
        "ff" + PARENT[2:],
        PARENT[:3] + "0" * 32 + PARENT[35:],
        PARENT[:36] + "0" * 16 + PARENT[52:],
    ],
)
async def test_what_is_no_trace_goes_nowhere(parent: str) -> None:
    fake = _fake("modern")
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        headers = {"traceparent": parent, "tracestate": "a=1"}
        for path, name in (("/mcp/a", "go"), ("/mcp", "a__go")):
            await h.modern(path, "tools/call", {"name": name}, headers=headers)
        assert _traces(fake, "tools/call") == [(None, None)] * 2
