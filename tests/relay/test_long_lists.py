"""Servers whose lists have no measure: in time, in size, in what they would write into the log."""

import asyncio
import json
import logging
import time
from typing import Any

import pytest

from services.relay.audit.definitions import Definitions
from services.relay.catalog import KEEP_SECONDS, MAX_PAGED_BYTES, Catalog
from services.relay.gate import Way
from services.relay.servers.ask import Asker
from services.relay.servers.hello import Hello
from shared.contracts.access import Grant
from shared.contracts.identity import Principal
from tests.relay.house import Clock, House, config_of, house
from tests.relay.upstreams import modern_fake

LISTS = {"surface": "console", "params": {}, "method": "tools/list"}
DENY = {"tools": {"deny": ["nothing"]}}


def pages(tool: dict[str, Any], *, seconds: float = 0.0) -> Any:
    """A `tools/list` of as many pages as anybody will take."""

    async def answer(message: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(seconds)
        at = int(message["params"].get("cursor", 0))
        named = tool | {"name": f"tool{at}"}
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        return {"result": result | {"tools": [named], "nextCursor": str(at + 1)}}

    return lambda _, message: answer(message)


async def test_many_slow_pages_have_the_time_of_one_request() -> None:
    fake = modern_fake(**{"tools/list": pages({"inputSchema": {}}, seconds=0.4)})
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url, "timeout": 1} | DENY]) as h,
    ):
        started = time.monotonic()
        status, body = await h.ask("x", LISTS)
        assert (status, body["type"]) == (504, "urn:strad:problem:upstream-timeout")
        status, body = await h.modern("/mcp/x", "tools/call", {"name": "go"})
        assert (status, body["error"]["data"]["kind"]) == (504, "upstream-timeout")
        assert time.monotonic() - started < 5


async def test_many_large_pages_are_not_gathered_without_end() -> None:
    schema = {"inputSchema": {"type": "object", "description": "x" * (MAX_PAGED_BYTES // 3)}}
    fake = modern_fake(**{"tools/list": pages(schema)})
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        status, body = await h.ask("x", LISTS)
        assert (status, body["type"]) == (502, "urn:strad:problem:upstream-too-large")
        assert len(fake.methods) < 10


@pytest.mark.parametrize(
    "fault",
    [
        {"inputSchema": {}, "_meta": {"ui": {"resourceUri": "https://elsewhere"}}},
        {"inputSchema": {"properties": {"a": {"type": "string", "x-mcp-header": "a b" * 9999}}}},
    ],
)
async def test_faulty_tools_are_one_short_line_in_the_log(
    fault: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "strad")
    tools = [fault | {"name": f"{n}\n" + "x" * 5000} for n in range(200)]
    fake = modern_fake(tools)
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        assert (await h.ask("x", LISTS))[0] == 200
    lines = [r for r in caplog.records if r.getMessage().startswith("tools-")]
    assert [r.fields["count"] for r in lines] == [200]  # type: ignore[attr-defined]
    assert len(json.dumps(lines[0].fields)) < 500  # type: ignore[attr-defined]


async def test_capabilities_that_a_caller_makes_up_leave_no_copies_of_a_list_behind() -> None:
    class Lister(Asker):
        """Lists one tool."""

        def __init__(self) -> None:
            pass

        async def ask(self, *_: Any, **__: Any) -> dict[str, Any]:
            return {"result": {"tools": [{"name": "go", "inputSchema": {}}]}}

    clock, server = Clock(), config_of([{"slug": "x", "url": "http://x.test/mcp"}], 1).servers[0]
    ada = Principal(person=House.person("ada"), digest="d", session_kind=None)
    way = Way(ada, Grant(subject=ada.subject, servers=frozenset({"x"})), server)
    catalog = Catalog(Lister(), clock, Definitions())
    listings = [await catalog.tools(way, Hello({"made up": n})) for n in range(20)]
    assert len({id(listing) for listing in listings}) == 20
    clock.offset += KEEP_SECONDS + 1
    last = await catalog.tools(way, Hello({}))
    assert len(catalog._kept) == 1
    assert last is await catalog.tools(way, Hello({}))
