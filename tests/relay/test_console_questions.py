"""What a tool asks a person of the console, and what the person answers, on the internal port."""

from typing import Any

import pytest
from aiohttp import web
from mcp_types import CLIENT_CAPABILITIES_META_KEY

from shared.contracts.identity import SessionKind
from shared.contracts.wire import ASSERTION_HEADER
from tests.relay.asking import WHERE, asking_server
from tests.relay.house import House, house
from tests.relay.upstreams import Fake, LegacyFake, modern_fake, sdk_app, served

PAGE = "ui://a/page"
ACCEPT = {"action": "accept"}
BOB = {"people": ["ada@strad.test", "bob@strad.test"]}


def _body(surface: str = "app", **params: Any) -> Any:
    return {"method": "tools/call", "params": params, "surface": surface, "page": PAGE}


async def _call(h: House, tool: str, **more: Any) -> Any:
    arguments = more.pop("arguments", {})
    status, answer = await h.ask("a", _body(name=tool, arguments=arguments, **more))
    assert status == 200, answer
    return answer


async def _answer(h: House, tool: str, asked: Any, answers: Any, **more: Any) -> Any:
    state = asked["result"]["requestState"]
    return await _call(h, tool, requestState=state, inputResponses=answers, **more)


def _text(answer: Any) -> str:
    text = answer["result"]["content"][0]["text"]
    assert isinstance(text, str)
    return text


def _filled(**content: Any) -> Any:
    return {"action": "accept", "content": content}


async def test_a_form_a_visit_both_at_once_and_several_rounds_come_to_an_end() -> None:
    async with (
        served(sdk_app(asking_server(), "modern")) as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        bear = {"arguments": {"thing": "bear"}}
        asked = await _call(h, "paint", **bear)
        question = asked["result"]["inputRequests"]["colour"]
        assert question["method"] == "elicitation/create"
        assert question["params"]["requestedSchema"]["required"] == ["colour"]
        done = await _answer(h, "paint", asked, {"colour": _filled(colour="red")}, **bear)
        assert _text(done) == "bear red after painting"
        done = await _answer(h, "paint", asked, {"colour": {"action": "decline"}}, **bear)
        assert _text(done) == "bear decline after painting"

        asked = await _call(h, "pay")
        assert asked["result"]["inputRequests"]["p"]["params"]["url"] == WHERE
        assert _text(await _answer(h, "pay", asked, {"p": ACCEPT})) == "paid accept"

        asked = await _call(h, "order")
        assert set(asked["result"]["inputRequests"]) == {"p", "size"}
        answers = {"p": {"action": "cancel"}, "size": _filled(size="XL")}
        assert _text(await _answer(h, "order", asked, answers)) == "XL paid cancel"

        asked = await _call(h, "dress")
        for piece in ("hat", "coat", "shoes"):
            asked = await _answer(h, "dress", asked, {piece: _filled(**{piece: "red"})})
        assert _text(asked) == "red hat;red coat;red shoes;"

        asked = await _call(h, "wait")
        assert "inputRequests" not in asked["result"]
        state = asked["result"]["requestState"]
        assert _text(await _call(h, "wait", requestState=state)) == "waited"

        asked = await _call(h, "forget")
        assert _text(await _answer(h, "forget", asked, {"name": _filled(name="Ada")})) == "Ada"


def _asking(state: str | None = "secret", **more: Any) -> Fake:
    """A server that believes every state; it asks until it gets answers."""

    def call(_: Any, message: Any) -> Any:
        if "inputResponses" in message["params"]:
            return {"result": {"resultType": "complete", "content": []}}
        asked = {"q": {"method": "elicitation/create", "params": {"mode": "form"}}}
        result: Any = {"resultType": "input_required", "inputRequests": asked, "x": more}
        return {"result": result if state is None else result | {"requestState": state}}

    names = [{"name": name, "inputSchema": {"type": "object"}} for name in ("go", "other")]
    return modern_fake(names, call)


@pytest.mark.parametrize("state", ["secret", None])
async def test_an_answer_goes_with_the_question_that_it_answers_and_with_no_other_call(
    state: str | None,
) -> None:
    fake = _asking(state)
    async with (
        fake.served() as url,
        house([{"slug": "a", "url": url, "access": BOB}, {"slug": "b", "url": url}]) as h,
    ):
        asked = await _call(h, "go", arguments={"n": 1})
        sealed = asked["result"]["requestState"]
        assert "secret" not in sealed
        answers = {"q": _filled(colour="red")}
        good = {"name": "go", "arguments": {"n": 1}, "inputResponses": answers}
        heard = len(fake.messages)
        attacks: list[tuple[str, str, Any, str]] = [
            ("ada", "a", good, "state-missing"),
            ("bob", "a", good | {"requestState": sealed}, "state-not-for-this-call"),
            ("ada", "b", good | {"requestState": sealed}, "state-not-for-this-call"),
            (
                "ada",
                "a",
                good | {"name": "other", "requestState": sealed},
                "state-not-for-this-call",
            ),
            (
                "ada",
                "a",
                good | {"arguments": {"n": 2}, "requestState": sealed},
                "state-not-for-this-call",
            ),
            ("ada", "a", good | {"requestState": "secret"}, "state-not-for-this-call"),
            ("ada", "a", good | {"requestState": "ä"}, "state-not-for-this-call"),
            ("ada", "a", good | {"requestState": sealed[:-4] + "AAAA"}, "state-not-for-this-call"),
        ]
        for name, slug, params, reason in attacks:
            _, refused = await h.ask(slug, _body(**params), name=name)
            assert refused["error"]["code"] == -32602, refused
            assert refused["error"]["data"] == {"reason": reason}
        assert "tools/call" not in fake.methods[heard:]

        # the same question answered twice is the server's to notice
        for _ in range(2):
            done = await _answer(h, "go", asked, answers, arguments={"n": 1})
            assert done["result"]["resultType"] == "complete"
        sent = fake.messages[-1]["params"]
        assert sent.get("requestState") == state
        assert sent["inputResponses"] == answers

        h.clock.offset += 601
        late = await _answer(h, "go", asked, answers, arguments={"n": 1})
        assert late["error"]["data"] == {"reason": "state-expired"}


async def test_a_question_comes_back_whole_but_for_its_state() -> None:
    async with (
        _asking(more=[1, {"y": None}]).served() as url,
        house([{"slug": "a", "url": url}]) as h,
    ):
        result = (await _call(h, "go"))["result"]
    assert result.pop("requestState")
    assert result == {
        "resultType": "input_required",
        "inputRequests": {"q": {"method": "elicitation/create", "params": {"mode": "form"}}},
        "x": {"more": [1, {"y": None}]},
    }


async def test_an_answer_is_decided_on_again_like_every_call() -> None:
    fake = _asking()
    server = {"slug": "a", "tools": {"each": {"go": {"read_only": True}}}}
    async with fake.served() as url, house([server | {"url": url}]) as h:
        sealed = (await _call(h, "go"))["result"]["requestState"]
        heard = len(fake.messages)
        again = {"name": "go", "arguments": {}, "inputResponses": {}, "requestState": sealed}
        _, refused = await h.ask("a", _body("run", **again))
        assert refused["error"]["data"] == {"reason": "tool-declares-no-page"}
        session = await h.session("ada", SessionKind.TOKEN)
        _, refused = await h.ask("a", _body(**again), assertion=h.assertion("ada", session, "a"))
        assert refused["error"]["data"] == {"reason": "look-only-session"}
        assert (await h.ask("a", _body(**again), name="bob"))[0] == 404
        assert "tools/call" not in fake.methods[heard:]


_FORMS: list[Any] = [
    [],
    None,
    "x",
    {"q": "accept"},
    {"q": {}},
    {"q": {"action": "yes"}},
    {"q": {"action": "accept", "_meta": {}}},
    {"q": {"action": "decline", "content": {}}},
    {"q": _filled(x={"y": 1})},
    {"q": _filled(x=[1])},
    {"q": _filled(x=[["y"]])},
    {"q": _filled(x=None)},
    {"q": {"action": "accept", "content": [1]}},
    {"": ACCEPT},
    {"q" * 257: ACCEPT},
    {str(n): ACCEPT for n in range(33)},
    {"q": _filled(**{f"x{n}": 1 for n in range(129)})},
    {"q": _filled(x="y" * 256 * 1024)},
    {"q": _filled(x=["y"] * 129)},
]


async def test_answers_in_another_form_are_refused_before_a_server_hears_anything() -> None:
    fake = _asking()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        bodies = [_body(name="go", requestState="s", inputResponses=wrong) for wrong in _FORMS]
        states: list[Any] = [None, 1, {}, "x" * 600_000]
        bodies += [_body(name="go", requestState=wrong) for wrong in states]
        bodies += [_body("console", name="go", requestState="s", inputResponses={})]
        for method in ("resources/read", "tools/list", "resources/list"):
            for member in ("inputResponses", "requestState"):
                params: Any = {member: {}, "uri": PAGE}
                bodies.append(_body() | {"params": params, "method": method})
        for body in bodies:
            status, problem = await h.ask("a", body)
            assert (status, problem["type"]) == (400, "urn:strad:problem:bad-request"), body
        number = b'{"q":{"action":"accept","content":{"x":1e999}}}'
        raw = b'{"method":"tools/call","surface":"app","page":null,"params":{"name":"go",'
        raw += b'"requestState":"s","inputResponses":' + number + b"}}"
        signed = h.assertion("ada", await h.session("ada"), "a")
        path = f"{h.internal_url}/internal/v1/servers/a/rpc"
        async with h.http.post(path, data=raw, headers={ASSERTION_HEADER: signed}) as response:
            assert response.status == 400
        assert fake.messages == []


async def test_no_log_quotes_an_answer_that_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "strad")
    secret = "correct horse battery"
    wrong: list[Any] = [
        {"q": _filled(x={"y": secret})},
        {"q": _filled(**{f"x{n}": secret for n in range(129)})},
        {"q": {"action": secret}},
        secret,
    ]
    fake = _asking()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for answers in wrong:
            body = _body(name="go", requestState="s", inputResponses=answers)
            assert (await h.ask("a", body))[0] == 400
        assert (await h.ask("a", _body() | {"params": secret}))[0] == 400
    lines = [getattr(one, "fields", {}) for one in caplog.records if one.message == "request"]
    reasons = [line["reason"] for line in lines if line["status"] == 400]
    assert len(reasons) == 5
    assert all(reasons)
    assert secret not in str(reasons)


async def test_only_a_call_of_a_page_or_a_person_says_that_somebody_can_be_asked() -> None:
    told: dict[str, Any] = {}

    def keep(_: web.Request, message: Any) -> Any:
        told[message["params"].get("name", message["method"])] = message
        return {"result": {"resultType": "complete", "content": [], "contents": []}}

    page = {"ui": {"resourceUri": PAGE}}
    tools = [
        {"name": n, "inputSchema": {}, "_meta": page, "annotations": {"readOnlyHint": True}}
        for n in ("app", "open", "run", "console")
    ]
    fake = modern_fake(tools, keep, **{"resources/read": keep})
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        for surface in ("app", "open", "run", "console"):
            await h.ask("a", _body(surface, name=surface))
        await h.ask("a", _body(uri=PAGE) | {"method": "resources/read"})
    can = {
        key: message["params"]["_meta"][CLIENT_CAPABILITIES_META_KEY].get("elicitation")
        for key, message in told.items()
    }
    both: dict[str, Any] = {"form": {}, "url": {}}
    assert can == {
        "app": both,
        "open": both,
        "run": both,
        "console": None,
        "resources/read": None,
    }
    for message in fake.messages:
        given = message["params"]["_meta"][CLIENT_CAPABILITIES_META_KEY]
        assert set(given) <= {"elicitation", "extensions"}
        if message["method"] != "tools/call":
            assert set(given) == {"extensions"}


async def test_an_older_server_does_not_hear_that_somebody_can_be_asked() -> None:
    fake = LegacyFake()
    async with fake.served() as url, house([{"slug": "a", "url": url}]) as h:
        assert (await _call(h, "go"))["result"]["structuredContent"] == {"n": 7}
    handshakes = [m["params"] for m in fake.messages if m.get("method") == "initialize"]
    assert handshakes
    assert all(set(params["capabilities"]) == {"extensions"} for params in handshakes)
