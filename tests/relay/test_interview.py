"""A tool of 2026-07-28 asks back a caller of a version before: in the stream of the caller's call.

The answers are posts of their own, at any replica.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    Root,
    TextContent,
    TextResourceContents,
)
from pydantic import FileUrl

from services.relay.changes import alive
from services.relay.merged.names import expose_uri
from services.relay.questions import interview, rendezvous
from shared import keys
from shared.contracts.config import Server
from shared.contracts.wire import Service
from shared.stores.kv import KeyValue
from shared.stores.memory import MemoryKeyValue
from tests.relay.asking import WHERE, asking_server
from tests.relay.house import House, house
from tests.relay.old_caller import Heard, OldCaller, message
from tests.relay.test_cancel import SOON
from tests.relay.twins import twin
from tests.relay.upstreams import Fake, LegacyFake, modern_fake, sdk_app, served
from tests.shared.valkey import valkey

BOTH = {"people": ["ada@strad.test", "bob@strad.test"]}
ALL: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
VIEWS = [("/mcp/a", ""), ("/mcp", "a__"), ("/mcp?servers=a,b", "a__")]


async def _fill(_: Any, params: Any) -> ElicitResult:
    if params.mode == "url":
        assert params.url == WHERE
        return ElicitResult(action="accept")
    field = params.requested_schema["required"][0]
    return ElicitResult(action="accept", content={field: f"my {field}"})


async def _think(_: Any, __: Any) -> CreateMessageResult:
    content = TextContent(type="text", text="blue")
    return CreateMessageResult(role="assistant", content=content, model="m")


async def _roots(_: Any) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri=FileUrl("file:///home"))])


class Keeping(MemoryKeyValue):
    """A store that remembers what was put there for questions."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, bytes] = {}

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        if key.startswith(keys.QUESTION.prefix):
            self.seen[key] = value
        await super().put(key, value, seconds)

    def waiting(self) -> list[str]:
        """What still lies there for questions."""
        return [key for key in self._values if key.startswith(keys.QUESTION.prefix)]


@contextlib.asynccontextmanager
async def _asking(store: KeyValue | None = None) -> AsyncIterator[House]:
    servers: list[dict[str, Any]] = [{"slug": "a", "access": BOTH}, {"slug": "b"}]
    async with (
        served(sdk_app(asking_server(), "modern")) as url,
        house([server | {"url": url} for server in servers], store=store) as h,
    ):
        yield h


@pytest.mark.parametrize(("view", "prefix"), VIEWS)
async def test_a_client_of_the_version_before_is_asked_and_answers(view: str, prefix: str) -> None:
    callbacks: dict[str, Any] = {
        "elicitation_callback": _fill,
        "sampling_callback": _think,
        "list_roots_callback": _roots,
    }
    async with _asking() as h, h.client(view, "legacy", **callbacks) as client:
        expected = {
            "paint": "bear my colour after painting",
            "order": "my size paid accept",
            "dress": "my hat hat;my coat coat;my shoes shoes;",
            "wait": "waited",
            "forget": "my name",
            "think": "blue",
            "look": "file:///home",
        }
        for tool, text in expected.items():
            arguments = {"thing": "bear"} if tool == "paint" else {}
            done = await client.call_tool(prefix + tool, arguments)
            assert isinstance(done.content[0], TextContent)
            assert done.content[0].text == text


@pytest.mark.parametrize(("view", "prefix"), VIEWS)
async def test_prompts_and_resources_ask_too(view: str, prefix: str) -> None:
    async with _asking() as h, h.client(view, "legacy", elicitation_callback=_fill) as client:
        poem = (await client.get_prompt(f"{prefix}poem")).messages[0].content
        assert isinstance(poem, TextContent)
        assert poem.text == "A poem of my theme"
        uri = expose_uri("a", "asking://left") if prefix else "asking://left"
        book = (await client.read_resource(uri)).contents[0]
        assert isinstance(book, TextResourceContents)
        assert book.text == "my title from left"


class Call:
    """One call in the stream of its own."""

    def __init__(self, caller: OldCaller, tool: str, **arguments: Any) -> None:
        self.caller = caller
        body = message("tools/call", "mine", name=tool, arguments=arguments)
        self._post = caller.post(body)

    async def __aenter__(self) -> "Call":
        self.response = await self._post.__aenter__()
        self.heard = Heard(self.response)
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._post.__aexit__(*error)

    async def asked(self) -> Any:
        """The next question; nothing else may come."""
        question = await self.heard.next()
        assert question["method"] in ("elicitation/create", "sampling/createMessage", "roots/list")
        return question

    async def answer(self, question: Any, **answer: Any) -> int:
        """Post the answer to one; the status."""
        body = {"jsonrpc": "2.0", "id": question["id"], **answer}
        async with self.caller.post(body) as response:
            return response.status

    async def text(self) -> Any:
        """The text of the outcome, or its error."""
        answer = await self.heard.next()
        assert answer["id"] == "mine", answer
        assert await self.heard.next() is None
        return answer["error"] if "error" in answer else answer["result"]["content"][0]["text"]


def _filled(**content: Any) -> Any:
    return {"action": "accept", "content": content}


async def _dress(call: Call, addresses: list[str]) -> None:
    for number, piece in enumerate(("hat", "coat", "shoes")):
        question = await call.asked()
        assert question["params"]["message"] == f"Which {piece}?"
        call.caller.at = addresses[number % len(addresses)]
        assert await call.answer(question, result=_filled(**{piece: "red"})) == 202
    assert await call.text() == "red hat;red coat;red shoes;"


@pytest.mark.parametrize(("view", "prefix"), VIEWS)
async def test_answers_find_the_call_from_any_replica(view: str, prefix: str) -> None:
    async with _asking() as h, twin(h) as second, twin(h) as third:
        for first in (h.url, second, third):
            caller = await OldCaller.begin(h, view, at=first, **ALL)
            async with Call(caller, f"{prefix}dress") as call:
                await _dress(call, [a for a in (second, h.url, third) if a != first])


async def test_the_relays_own_rights_in_redis_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with valkey(tmp_path) as server:
        async with (
            served(sdk_app(asking_server(), "modern")) as url,
            house([{"slug": "a", "url": url}], store=server.connect(Service.RELAY)) as h,
        ):
            h.store = server.connect(Service.RELAY)
            async with twin(h) as other:
                h.store = server.connect(Service.AUTH)  # for the tokens
                caller = await OldCaller.begin(h, "/mcp/a", **ALL)
                # who is not told of an answer finds it when a minute is over
                monkeypatch.setattr(interview, "LOOK_SECONDS", 60.0)
                async with asyncio.timeout(20), Call(caller, "dress") as call:
                    await _dress(call, [other])
                with server.admin() as admin:
                    assert admin.keys("mcp:ask:*") == []
            await h.store.close()


async def test_what_lies_in_redis_is_sealed_and_gone_afterwards() -> None:
    store = Keeping()
    async with _asking(store) as h, twin(h) as other:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        async with Call(caller, "forget") as call:
            question = await call.asked()
            caller.at = other
            await call.answer(question, result=_filled(name="a secret name"))
            assert await call.text() == "a secret name"
        assert len(store.seen) == 2
        for key, value in store.seen.items():
            assert b"secret" not in value
            assert question["id"] not in key
        assert store.waiting() == []


async def test_an_answer_arrives_also_when_the_word_of_it_gets_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interview, "LOOK_SECONDS", 0.05)

    async def lost(*_: Any) -> None:
        return None

    async with _asking() as h, twin(h) as other:
        monkeypatch.setattr(h.store, "publish", lost)
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        async with Call(caller, "dress") as call:
            await _dress(call, [other])


async def test_only_the_session_that_was_asked_answers_and_only_once() -> None:
    async with _asking() as h, twin(h) as other:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        beside = await OldCaller.begin(h, "/mcp/a", **ALL)
        bob = await OldCaller.begin(h, "/mcp/a", name="bob", **ALL)
        async with Call(caller, "forget") as call, Call(beside, "forget") as second:
            question = await call.asked()
            foreign = (await second.asked())["id"]
            wrong = {"jsonrpc": "2.0", "id": question["id"], "result": _filled(name="Eve")}
            bodies = [wrong, wrong | {"id": foreign}, wrong | {"id": 1}, wrong | {"id": "mine"}]
            for address in (h.url, other):
                for body, who in [
                    (wrong, beside),
                    (wrong, bob),
                    *((b, caller) for b in bodies[1:]),
                ]:
                    who.at = address
                    async with who.post(body) as response:
                        assert response.status == 202
                bob.session, own = caller.session, bob.session
                async with bob.post(wrong) as response:
                    assert response.status == 404
                bob.session = own
            assert await call.heard.nothing()
            caller.at = other
            await call.answer(question, result=_filled(name="Ada"))
            for address in (other, h.url):
                caller.at = address
                await call.answer(question, result=_filled(name="Eve"))
            assert await call.text() == "Ada"
            assert await second.heard.nothing()


async def test_a_caller_who_cannot_be_asked_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(_: Any, sent: Any) -> Any:
        wanted = sent["params"]["name"]
        method = {"form": "elicitation/create", "url": "elicitation/create"}.get(wanted, wanted)
        request = {"method": method, "params": {"mode": wanted, "url": "x:", "message": "?"}}
        return {"result": {"resultType": "input_required", "inputRequests": {"q": request}}}

    tools = ("form", "url", "sampling/createMessage", "roots/list", "tools/call")
    fake = modern_fake([{"name": name, "inputSchema": {}} for name in tools], ask)
    cases: list[tuple[str, Any, list[str]]] = [
        ("2025-11-25", {}, list(tools)),
        ("2025-11-25", {"elicitation": {}}, [t for t in tools if t != "form"]),
        ("2025-06-18", ALL, ["url", "tools/call"]),
        ("2025-03-26", ALL, ["form", "url", "tools/call"]),
    ]
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for version, can, refused in cases:
            caller = await OldCaller.begin(h, "/mcp/a", version=version, **can)
            for tool in refused:
                (answer,) = await caller.ask("tools/call", name=tool, arguments={})
                assert answer["error"]["code"] == -32603
                assert "cannot be asked" in answer["error"]["message"]


async def test_a_server_hears_what_the_caller_can_answer_and_lists_hear_nothing() -> None:
    fake = modern_fake([], lambda *_: {"result": {"resultType": "complete", "content": []}})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for path, tool in (("/mcp/a", "go"), ("/mcp", "a__go")):
            caller = await OldCaller.begin(h, path, **ALL)
            for method in ("tools/list", "resources/list"):
                await caller.ask(method)
            await caller.ask("tools/call", name=tool, arguments={})
    assert {"tools/call", "tools/list", "resources/list"} <= set(fake.methods)
    for sent in fake.messages:
        if sent["method"] == "initialize":
            continue  # the server could speak the caller's version: it hears the caller itself
        can = sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        if sent["method"] == "tools/call":
            assert can == ALL
        else:
            assert not set(can) & set(ALL), sent["method"]


async def test_an_error_is_a_form_closed_and_elsewhere_the_end_of_the_call() -> None:
    no = {"code": -1, "message": "I would rather not"}
    async with _asking() as h:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        odd_ones: list[Any] = [{"error": no}, {"result": []}, {"error": "no"}, {"result": None}]
        for odd in odd_ones:
            async with Call(caller, "forget") as call:
                await call.answer(await call.asked(), **odd)
                assert await call.text() == "cancel"
        for tool in ("think", "look"):
            async with Call(caller, tool) as call:
                await call.answer(await call.asked(), error=no)
                assert await call.text() == no
            async with Call(caller, tool) as call:
                await call.answer(await call.asked(), error={"code": True})
                assert (await call.text())["code"] == -32603


async def test_an_answer_too_large_to_keep_is_an_error_at_either_replica(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rendezvous, "MAX_ANSWER_BYTES", 4096)
    async with _asking() as h, twin(h) as other:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        large = {"role": "x" * 4096}
        for address in (h.url, other):
            caller.at = h.url
            async with Call(caller, "think") as call:
                question = await call.asked()
                caller.at = address
                await call.answer(question, result=large)
                assert "larger than" in (await call.text())["message"]


async def test_one_refusal_withdraws_the_other_questions() -> None:
    def ask(_: Any, __: Any) -> Any:
        roots = {"method": "roots/list"}
        asked = {"one": roots, "two": roots, "three": roots}
        return {"result": {"resultType": "input_required", "inputRequests": asked}}

    async with modern_fake([], ask).served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        async with Call(caller, "go") as call:
            questions = [await call.asked() for _ in range(3)]
            assert len({q["id"] for q in questions}) == 3
            await call.answer(questions[1], error={"code": -1, "message": "no"})
            withdrawn = [await call.heard.next() for _ in range(2)]
            assert {w["method"] for w in withdrawn} == {"notifications/cancelled"}
            left = {questions[0]["id"], questions[2]["id"]}
            assert {w["params"]["requestId"] for w in withdrawn} == left
            assert (await call.text())["code"] == -1


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "at another replica"])
async def test_a_call_called_off_while_it_waits_ends_at_once(elsewhere: bool) -> None:
    async with _asking() as h, twin(h) as other:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        async with Call(caller, "forget") as call:
            question = await call.asked()
            caller.at = other if elsewhere else h.url
            started = time.monotonic()
            assert await caller.tell("notifications/cancelled", requestId="mine") == 202
            withdrawn = await call.heard.next()
            assert withdrawn["params"]["requestId"] == question["id"]
            assert await call.heard.next() is None
            assert time.monotonic() - started < SOON
            await call.answer(question, result=_filled(name="late"))


def _counting() -> tuple[Fake, list[Any]]:
    calls: list[Any] = []

    def ask(_: Any, sent: Any) -> Any:
        calls.append(sent["params"])
        asked = {"q": {"method": "roots/list"}}
        return {"result": {"resultType": "input_required", "inputRequests": asked}}

    return modern_fake([], ask), calls


async def test_who_hangs_up_is_not_waited_for() -> None:
    fake, calls = _counting()
    store = Keeping()
    async with fake.served() as url, house([{"slug": "a", "url": url}], store=store) as h:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        async with Call(caller, "go") as call:
            question = await call.asked()
            assert store.waiting() != []
        async with asyncio.timeout(SOON):
            while store.waiting():
                await asyncio.sleep(0.005)
        assert await call.answer(question, result={"roots": []}) == 202
        assert len(calls) == 1


@pytest.mark.parametrize("bound", ["server", "state"])
async def test_nobody_is_waited_for_longer_than_the_server_may_take_or_its_state_lasts(
    monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    if bound == "server":
        monkeypatch.setattr(Server, "longest", property(lambda _: 1))
    else:
        monkeypatch.setattr(interview, "ROUND_SECONDS", 1)
    async with _asking() as h:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        async with Call(caller, "forget") as call:
            question = await call.asked()
            assert (await call.heard.next())["params"]["requestId"] == question["id"]
            assert "Nobody answered" in (await call.text())["message"]


async def test_a_server_that_asks_without_end_is_stopped() -> None:
    fake, calls = _counting()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        async with Call(caller, "go") as call:
            for _ in range(interview.MAX_ROUNDS):
                await call.answer(await call.asked(), result={"roots": []})
            assert "more after 10 rounds" in (await call.text())["message"]
        assert len(calls) == 1 + interview.MAX_ROUNDS


@pytest.mark.parametrize(
    "asked",
    [
        {str(n): {"method": "roots/list"} for n in range(33)},
        [{"method": "roots/list"}],
        "x",
        7,
        {},
        None,
    ],
)
async def test_questions_beyond_measure_or_form_are_not_asked(asked: Any) -> None:
    def ask(_: Any, __: Any) -> Any:
        return {"result": {"resultType": "input_required", "inputRequests": asked}}

    async with modern_fake([], ask).served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        (answer,) = await caller.ask("tools/call", name="go", arguments={})
        text = "too much at once" if asked else "does not say for what"
        assert text in answer["error"]["message"]


async def test_answers_that_nobody_was_asked_for_do_not_reach_a_server() -> None:
    fake, calls = _counting()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        caller = await OldCaller.begin(h, "/mcp/a")
        params = {"inputResponses": {"q": {}}, "requestState": "x"}
        await caller.ask("tools/call", name="go", arguments={"n": 1}, **params)
    (sent,) = calls
    del sent["_meta"]
    assert sent == {"name": "go", "arguments": {"n": 1}}


async def test_a_right_that_ends_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alive, "RECHECK_SECONDS", 0.1)
    async with _asking() as h:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        async with Call(caller, "forget") as call:
            await call.asked()
            subject = h.person("ada").subject
            (record,) = (await h.token_writer.of(subject)).values()
            await h.token_writer.revoke(subject, record.id)
            assert (await call.heard.next())["method"] == "notifications/cancelled"
            assert (await call.text())["data"]["kind"] == "forbidden"


async def test_a_session_that_ends_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interview, "KEEP_SECONDS", 0.05)
    monkeypatch.setattr(interview, "LOOK_SECONDS", 0.05)
    async with _asking() as h:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        async with Call(caller, "forget") as call:
            await call.asked()
            headers = {"Mcp-Session-Id": caller.session}
            assert (await h.send("/mcp/a", {}, verb="DELETE", headers=headers))[0] == 200
            assert (await call.heard.next())["method"] == "notifications/cancelled"
            assert "session has ended" in (await call.text())["message"]


async def test_a_stream_is_kept_alive_while_a_person_thinks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interview, "KEEP_SECONDS", 0.05)
    monkeypatch.setattr(interview, "LOOK_SECONDS", 0.05)
    async with _asking() as h:
        caller = await OldCaller.begin(h, "/mcp/a", **ALL)
        body = message("tools/call", 1, name="forget", arguments={})
        async with caller.post(body) as response, asyncio.timeout(5):
            text = b""
            while text.count(b": waiting\n\n") < 3:
                text += await response.content.readany()
            assert b"elicitation/create" in text


async def test_an_older_server_hears_of_nobody_who_can_be_asked() -> None:
    fake = LegacyFake()
    can: Any = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}, "extensions": {"x": {}}}
    meta = {"io.modelcontextprotocol/clientCapabilities": can}
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for path, tool in (("/mcp/a", "go"), ("/mcp", "a__go")):
            status, _ = await h.modern(path, "tools/call", {"name": tool, "_meta": meta})
            assert status == 200
        old = await OldCaller.begin(h, "/mcp", **can)
        await old.ask("tools/call", name="a__go", arguments={})
    heard = [m["params"]["capabilities"] for m in fake.messages if m.get("method") == "initialize"]
    assert heard
    assert all(given == {"extensions": {"x": {}}} for given in heard)
