"""What a server asks back leaves the call route as questions, and comes back with the call."""

import json
from typing import Any

import pytest

from tests.apphost.console import Console

CALL = {"name": "show", "arguments": {"a": 1}, "page": "ui://t/page", "surface": "app"}
FORM = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


def ask(message: Any = "Which?", **params: Any) -> Any:
    return {"method": "elicitation/create", "params": {"message": message, **params}}


def wants(state: Any = "s", **requests: Any) -> Any:
    found = {"resultType": "input_required", "inputRequests": requests, "requestState": state}
    return {key: value for key, value in found.items() if value is not None}


async def answer(console: Console, cookie: str, result: Any, **more: Any) -> Any:
    console.toys.on_call = lambda _: result
    return await console.call(cookie, CALL | more)


async def test_a_question_comes_as_fields_as_an_address_or_with_a_reason_not_to_ask(
    console: Console, ada: str
) -> None:
    result = wants(
        form=ask(mode="form", requestedSchema=FORM),
        bare=ask(requestedSchema=FORM),
        visit=ask(mode="url", url="https://pay.example/1"),
        secret=ask(requestedSchema={"type": "object", "properties": {"pin": {"type": "string"}}}),
        model={"method": "sampling/createMessage", "params": {}},
        odd=7,
    )
    said = json.loads((await answer(console, ada, result)).text)
    assert list(said) == ["asks"]
    assert said["asks"]["state"] == "s"
    form, bare, visit, secret, model, odd = said["asks"]["questions"]
    assert (form["key"], form["message"], len(form["fields"])) == ("form", "Which?", 1)
    assert bare["fields"][0]["name"] == "colour"
    assert visit == {"key": "visit", "message": "Which?", "url": "https://pay.example/1"}
    assert "Secrets are never asked" in secret["refused"]
    assert "something other than a person" in model["refused"]
    assert "something other than a person" in odd["refused"]


async def test_the_answers_go_to_the_server_with_the_same_call(console: Console, ada: str) -> None:
    given = {
        "form": {"action": "accept", "content": {"colour": "red", "count": 3, "tags": ["a"]}},
        "other": {"action": "decline"},
    }
    final: Any = {"content": []}
    said = await answer(console, ada, final, again={"answers": given, "state": "s"})
    assert json.loads(said.text) == {"result": final}
    assert console.relay.calls()[0]["params"] == {
        "name": "show",
        "arguments": {"a": 1},
        "inputResponses": given,
        "requestState": "s",
    }


async def test_a_server_that_only_wants_to_be_asked_again_asks_nothing(
    console: Console, ada: str
) -> None:
    said = await answer(console, ada, {"resultType": "input_required", "requestState": "later"})
    assert json.loads(said.text) == {"asks": {"questions": [], "state": "later"}}
    await answer(console, ada, {"content": []}, again={"answers": {}, "state": "later"})
    params = console.relay.calls()[-1]["params"]
    assert params["requestState"] == "later"
    assert "inputResponses" not in params


@pytest.mark.parametrize(
    "result",
    [
        {"resultType": "input_required"},
        wants(state=7, a=ask()),
        wants(state=None) | {"inputRequests": {}},
        wants() | {"inputRequests": [ask()]},
        wants(**{f"q{n}": ask() for n in range(9)}),
    ],
)
async def test_a_question_that_cannot_be_read_is_a_named_fault_of_the_server(
    console: Console, ada: str, result: Any
) -> None:
    said = await answer(console, ada, result)
    assert (said.status, said.kind) == (502, "upstream-malformed")


async def test_another_kind_of_result_is_none_of_the_hosts_business(
    console: Console, ada: str
) -> None:
    result = {"resultType": "task", "content": [], "inputRequests": {"a": 1}}
    assert json.loads((await answer(console, ada, result)).text) == {"result": result}


@pytest.mark.parametrize(
    "again",
    [
        7,
        {},
        {"answers": {"a": {"action": "yes"}}},
        {"answers": {"a": {"action": "accept", "content": {"b": {"c": 1}}}}},
        {"answers": {"a": {"action": "accept", "content": {"b": [1]}}}},
        {"answers": {"a": {"action": "accept", "more": 1}}},
        {"answers": {f"q{n}": {"action": "decline"} for n in range(9)}},
        {"answers": {}, "state": 7},
        {"answers": {}, "state": "x" * (256 * 1024 + 1)},
    ],
)
async def test_odd_answers_reach_no_server(console: Console, ada: str, again: Any) -> None:
    said = await answer(console, ada, {"content": []}, again=again)
    assert (said.status, said.kind) == (400, "bad-request")
    assert console.relay.calls() == []
