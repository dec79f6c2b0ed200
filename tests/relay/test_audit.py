"""The audit trail of the relay: every call and every refusal, with its facts and no more."""

import asyncio
import hashlib
import json
import time
from collections.abc import Sequence
from typing import Any

import pytest
from aiohttp import web

from services.relay.audit.arguments import MOST_CHARS, TOO_DEEP, Fingerprint, redacted
from services.relay.audit.definitions import hash_of
from services.relay.audit.described import describe
from shared.contracts.audit import AuditRules, Entry
from shared.signing import Seal
from shared.stores import audit
from shared.stores.audit import Trail, TrailReader
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.relay.house import House, house
from tests.relay.upstreams import LegacyFake, modern_fake, sdk_app, served, toy_server

TOOL = {"name": "go", "inputSchema": {"type": "object"}, "description": "Goes"}
DONE = {"result": {"resultType": "complete", "content": []}}
ARGUMENTS = {"city": "Zürich", "pin": "1234", "api_key": "hidden"}


class Failing(MemoryKeyValue):
    """A store whose audit trail cannot be written."""

    away = False

    async def append(self, key: str, values: Sequence[bytes], most: int) -> None:
        if self.away:
            raise StoreUnavailable("away")
        await super().append(key, values, most)


async def trail(h: House, count: int, *, running: bool = False) -> list[dict[str, Any]]:
    """So many entries, once they are there. `running`: those of requests still at work too."""
    async with asyncio.timeout(5):
        while True:
            reader = TrailReader(h.store, h.settings.audit_seal, h.clock)
            found = [record async for record in reader.entries(0)]
            found = [record for record in found if running or "running" not in record]
            if len(found) >= count:
                return found
            await asyncio.sleep(0.01)


async def the_call(h: House) -> dict[str, Any]:
    """The one call in the trail, once it is there."""
    count = 1
    while True:
        found = await trail(h, count)
        calls = [one for one in found if one["method"] == "tools/call"]
        if calls:
            assert len(calls) == 1
            return calls[0]
        count = len(found) + 1


async def test_a_call_is_told_with_all_its_facts() -> None:
    fake = modern_fake([TOOL], lambda *_: DONE)
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        await h.modern("/mcp/x", "tools/list")
        status, _ = await h.modern("/mcp/x", "tools/call", {"name": "go", "arguments": ARGUMENTS})
        assert status == 200
        listed, called = await trail(h, 2)
        token = h.settings.base.seal.digest("token", h.tokens["ada"])
        person = h.person("ada")
    assert (listed["method"], listed["server"], listed["outcome"]) == ("tools/list", "x", "result")
    assert 0 <= called.pop("ms") < 5000
    assert called.pop("bytes_in") > 100
    assert called.pop("bytes_out") > 50
    assert called.pop("time") > 1_600_000_000
    digest = called.pop("arguments")
    assert called.pop("id") != listed["id"]
    assert called == {
        "event": "request",
        "subject": person.subject,
        "email": "ada@strad.test",
        "session": token[:12],
        "client": "t 1",
        "method": "tools/call",
        "server": "x",
        "tool": "go",
        "definition": hash_of(TOOL),
        "surface": "client",
        "decision": "allowed",
        "outcome": "result",
        "status": 200,
    }
    text = json.dumps(ARGUMENTS, sort_keys=True, separators=(",", ":"))
    plain = hashlib.sha256(text.encode()).hexdigest()
    assert len(digest) == 22
    assert digest not in plain


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize(("path", "name"), [("/mcp/toys", "echo"), ("/mcp", "toys__echo")])
async def test_every_way_to_a_tool_is_told(era: str, mode: str, path: str, name: str) -> None:
    async with (
        served(sdk_app(toy_server(), era)) as url,
        house([{"slug": "toys", "url": url}]) as h,
        h.client(path, mode) as client,
    ):
        await client.list_tools()
        await client.call_tool(name, {"text": "hello"})
        called = await the_call(h)
    assert (called["server"], called["tool"], called["decision"]) == ("toys", "echo", "allowed")
    assert (called["outcome"], called["client"]) == ("result", "mcp 0.1.0")
    assert called["definition"]
    assert called["arguments"]


async def test_what_a_page_and_the_console_do_is_told_with_its_surface() -> None:
    async with (
        served(sdk_app(toy_server())) as url,
        house([{"slug": "toys", "url": url}]) as h,
    ):
        session = await h.session()
        for surface, tool in (("app", "refresh"), ("app", "unknown"), ("run", "show")):
            signed = h.assertion("ada", session, "toys")
            params = {"name": tool, "arguments": {}}
            body = {"method": "tools/call", "params": params, "surface": surface}
            page = {"page": "ui://toys/view.html"} if surface == "run" else {}
            await h.ask("toys", body | page, assertion=signed)
        found = await trail(h, 3)
        assert {one["session"] for one in found} == {session[:12]}
    told = {(one["surface"], one["tool"], one["decision"], one.get("reason")) for one in found}
    assert told == {
        ("app", "refresh", "allowed", None),
        ("app", "unknown", "denied", "unknown-tool"),
        ("run", "show", "allowed", None),
    }


async def test_a_refusal_is_told_with_the_reason_that_its_caller_does_not_hear() -> None:
    fake = modern_fake([TOOL], lambda *_: DONE)
    nobody = {"people": ["bob@strad.test"]}
    async with (
        fake.served() as url,
        house(
            [
                {"slug": "x", "url": url, "tools": {"deny": ["drop"]}},
                {"slug": "secret", "url": url, "access": nobody},
            ]
        ) as h,
    ):
        await h.modern("/mcp/x", "tools/call", {"name": "drop"})
        await h.modern("/mcp", "tools/call", {"name": "x__drop"})
        await h.modern("/mcp", "tools/call", {"name": "secret__go"})
        await h.modern("/mcp/secret", "tools/call", {"name": "go"})
        await h.modern("/mcp/absent", "tools/list")
        await h.modern("/mcp/strad_pat_PASTED", "tools/list")
        found = await trail(h, 6)
        assert "tools/call" not in fake.methods
    assert [(one.get("server"), one.get("tool"), one["reason"]) for one in found] == [
        ("x", "drop", "tool-denied"),
        ("x", "drop", "tool-denied"),
        ("(several)", "secret__go", "not-in-view"),
        ("secret", None, "not-entitled"),
        ("absent", None, "unknown-server"),
        ("(no slug)", None, "unknown-server"),
    ]
    assert {(one["event"], one["decision"]) for one in found} == {("denied", "denied")}
    assert {one["email"] for one in found} == {"ada@strad.test"}


async def test_a_refusal_that_cannot_be_told_is_no_answer_at_all() -> None:
    fake, store = modern_fake([TOOL], lambda *_: DONE), Failing()
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url, "tools": {"deny": ["drop"]}}], store=store) as h,
    ):
        await h.token()
        store.away = True
        for path, tool in (("/mcp/x", "drop"), ("/mcp", "x__drop"), ("/mcp/absent", "go")):
            status, body = await h.modern(path, "tools/call", {"name": tool})
            assert (status, body["error"]["data"]["kind"]) == (503, "store-unavailable")
        store.away = False


async def test_a_press_on_run_that_cannot_be_told_runs_nothing() -> None:
    page = "ui://toys/view.html"
    tool = TOOL | {"_meta": {"ui": {"resourceUri": page}}}
    fake, store = modern_fake([tool], lambda *_: DONE), Failing()
    async with fake.served() as url, house([{"slug": "x", "url": url}], store=store) as h:
        session = await h.session()
        pressed = {
            "method": "tools/call",
            "params": {"name": "go", "arguments": {}},
            "surface": "run",
            "page": page,
        }
        store.away = True
        signed = h.assertion("ada", session, "x")
        status, body = await h.ask("x", pressed, assertion=signed)
        assert (status, body["type"]) == (503, "urn:strad:problem:store-unavailable")
        assert "tools/call" not in fake.methods
        store.away = False
        signed = h.assertion("ada", session, "x")
        assert (await h.ask("x", pressed, assertion=signed))[0] == 200
        assert fake.methods.count("tools/call") == 1


async def test_while_the_trail_is_full_no_call_reaches_a_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit, "MOST_WAITING", 1)
    monkeypatch.setattr(audit, "ROOM_SECONDS", 0.05)
    fake, store = modern_fake([TOOL], lambda *_: DONE), Failing()
    async with fake.served() as url, house([{"slug": "x", "url": url}], store=store) as h:
        await h.token()
        store.away = True
        call = ("/mcp/x", "tools/call", {"name": "go"})
        assert (await h.modern(*call))[0] == 200  # the last that there is room for
        before = fake.methods.count("tools/call")
        status, body = await h.modern(*call)
        assert (status, body["error"]["data"]["kind"]) == (503, "store-unavailable")
        assert fake.methods.count("tools/call") == before == 1
        store.away = False
        await trail(h, 1)
        assert (await h.modern(*call))[0] == 200


async def test_how_a_call_ended_is_told() -> None:
    async def call(request: web.Request, message: Any) -> Any:
        name = message["params"]["name"]
        if name == "fails":
            return {"result": {"resultType": "complete", "content": [], "isError": True}}
        if name == "refuses":
            return {"error": {"code": -32602, "message": "no"}}
        if name == "dies":
            return web.Response(status=500)
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        await stream.write(b'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n')
        return stream

    fake = modern_fake([TOOL], call)
    async with fake.served() as url, house([{"slug": "x", "url": url}]) as h:
        names = ("fails", "refuses", "dies", "stops")
        for name in names:
            await h.modern("/mcp/x", "tools/call", {"name": name})
        found = await trail(h, len(names))
    assert {one["tool"]: one["outcome"] for one in found} == {
        "fails": "tool-error",
        "refuses": "error",
        "dies": "upstream-refused",
        "stops": "upstream-unreachable",
    }


async def test_a_call_that_its_caller_leaves_is_told_while_it_runs_and_when_it_ends() -> None:
    fake = modern_fake([TOOL], lambda *_: asyncio.sleep(30))
    async with fake.served() as url, house([{"slug": "x", "url": url, "timeout": 20}]) as h:
        task = asyncio.create_task(h.modern("/mcp/x", "tools/call", {"name": "go"}))
        (first,) = await trail(h, 1, running=True)
        assert (first["running"], first["tool"]) == (True, "go")
        task.cancel()
        (last,) = await trail(h, 1)
        assert (last["id"], last["outcome"]) == (first["id"], "caller-left")
        assert "running" not in last


async def test_arguments_are_nowhere_unless_the_operator_says_so(
    capfd: pytest.CaptureFixture[str],
) -> None:
    fake = LegacyFake()
    params = {"name": "go", "arguments": ARGUMENTS}
    async with fake.served() as url:
        async with house([{"slug": "x", "url": url}]) as h:
            await h.modern("/mcp/x", "tools/call", params)
            assert "given" not in (await trail(h, 1))[0]
        async with house([{"slug": "x", "url": url}], audit={"arguments": True}) as h:
            await h.modern("/mcp/x", "tools/call", params)
            (one,) = await trail(h, 1)
    assert json.loads(one["given"]) == {"city": "Zürich", "pin": "1234", "api_key": "[removed]"}


async def test_the_log_line_of_a_call_holds_its_facts_and_names_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fake = modern_fake([TOOL], lambda *_: DONE)
    caplog.set_level("INFO", "strad")
    async with (
        fake.served() as url,
        house([{"slug": "x", "url": url}], audit={"arguments": True}) as h,
    ):
        await h.modern("/mcp/x", "tools/call", {"name": "go", "arguments": ARGUMENTS})
        subject = h.person("ada").subject
    lines = [getattr(one, "fields", {}) for one in caplog.records if one.message == "request"]
    (line,) = [one for one in lines if one.get("tool")]
    assert (line["subject"], line["server"], line["decision"]) == (subject, "x", "allowed")
    assert line["arguments"]
    assert "ada@" not in str(line)
    assert "Zürich" not in str(line)


def test_equal_definitions_have_one_hash_and_any_change_another() -> None:
    turned = dict(reversed(TOOL.items()))
    assert hash_of(turned) == hash_of(TOOL)
    assert hash_of(TOOL | {"description": "Goes on"}) != hash_of(TOOL)
    assert hash_of(TOOL | {"name": "\ud800"})


def test_equal_arguments_have_one_fingerprint_which_holds_them_no_longer_than_it_must() -> None:
    asked: list[str] = []

    def digest(text: str) -> str:
        asked.append(text)
        return hashlib.sha256(text.encode()).hexdigest()

    one = Fingerprint({"a": 1, "b": [2, "ü"]}, digest)
    assert str(one) == str(Fingerprint({"b": [2, "ü"], "a": 1}, digest))
    assert str(one) != str(Fingerprint({"a": 1, "b": [2, "u"]}, digest))
    assert str(one) == str(one)
    assert len(asked) == 3
    assert one._arguments is None
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert str(Fingerprint(deep, digest)) == TOO_DEEP


@pytest.mark.parametrize(("size", "asked"), [(500, 0), (1_000_000, 1), (None, 1)])
def test_large_arguments_are_worked_out_one_by_one(size: int | None, asked: int) -> None:
    digests: list[str] = []

    class Counting(Trail):
        def digest(self, text: str) -> str:
            digests.append(text)
            return super().digest(text)

    seal = Seal([b"a" * 32], b"a" * 32)
    trail = Counting(MemoryKeyValue(), seal, time.time, AuditRules())
    told = Entry({"id": "one"}, {})
    message = {"method": "tools/call", "params": {"name": "go", "arguments": ARGUMENTS}}
    describe(told, message, trail, size)
    assert len(digests) == asked
    assert str(told.logged["arguments"]) == str(told.logged["arguments"])
    assert len(digests) == 1


def test_what_is_called_a_secret_is_not_kept_and_the_rest_is_short() -> None:
    given = {"user": {"passWord": "p", "x-api-key": "k", "name": "n"}, "list": [{"token": 1}]}
    assert json.loads(redacted(given)) == {
        "user": {"passWord": "[removed]", "x-api-key": "[removed]", "name": "n"},
        "list": [{"token": "[removed]"}],
    }
    assert len(redacted({"text": "x" * 100_000})) == MOST_CHARS + 1
    deep: Any = "bottom"
    for _ in range(200):
        deep = {"in": deep}
    assert "bottom" not in redacted(deep)
