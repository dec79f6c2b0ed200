"""Between the words of 2026-07-28 and those of the versions before it, for what can be asked."""

from typing import Any

import pytest

from services.relay.questions.askable import question, told
from services.relay.servers.hello import Hello

OLDEST, MIDDLE, LAST = "2025-03-26", "2025-06-18", "2025-11-25"
FORM: Any = {"form": {}}
BOTH: Any = {"form": {}, "url": {}}


@pytest.mark.parametrize(
    ("version", "declared", "can"),
    [
        (LAST, {}, {}),
        (LAST, {"elicitation": {}}, {"elicitation": FORM}),
        (LAST, {"elicitation": {"form": {}}}, {"elicitation": FORM}),
        (LAST, {"elicitation": {"url": {}}}, {"elicitation": {"url": {}}}),
        (LAST, {"elicitation": BOTH}, {"elicitation": BOTH}),
        (LAST, {"elicitation": True, "sampling": 1, "roots": []}, {}),
        (LAST, {"sampling": {"tools": {}}}, {"sampling": {"tools": {}}}),
        (LAST, {"roots": {"listChanged": True}}, {"roots": {}}),
        (LAST, {"tasks": {"list": {}}}, {}),
        (LAST, {"extensions": {"x": {}}}, {"extensions": {"x": {}}}),
        (MIDDLE, {"elicitation": {}}, {"elicitation": FORM}),
        (MIDDLE, {"elicitation": BOTH}, {"elicitation": FORM}),
        (MIDDLE, {"sampling": {"tools": {}}}, {"sampling": {}}),
        (OLDEST, {"elicitation": {}, "sampling": {}, "roots": {}}, {"sampling": {}, "roots": {}}),
    ],
)
def test_a_server_hears_what_the_caller_declared_and_its_version_knows(
    version: str, declared: Any, can: Any
) -> None:
    assert told(Hello(declared), version).capabilities == can


def _form(**more: Any) -> Any:
    params = {"mode": "form", "message": "?", "requestedSchema": {}} | more
    return {"method": "elicitation/create", "params": params}


VISIT: Any = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "?", "url": "x:"},
}
SAMPLE = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
ROOTS = {"method": "roots/list"}


@pytest.mark.parametrize(
    ("can", "request_"),
    [
        ({}, _form()),
        ({}, VISIT),
        ({}, SAMPLE),
        ({}, ROOTS),
        ({"elicitation": FORM}, VISIT),
        ({"elicitation": {"url": {}}}, _form()),
        ({"elicitation": BOTH}, _form(mode="else")),
        ({"elicitation": BOTH}, _form(mode=["form"])),
        ({"elicitation": BOTH}, {"method": "elicitation/create", "params": []}),
        ({"sampling": {}}, {"method": "sampling/createMessage", "params": {"tools": []}}),
        ({"sampling": {}, "roots": {}, "elicitation": BOTH}, {"method": "ping"}),
        ({"sampling": {}, "roots": {}, "elicitation": BOTH}, {"method": ["roots/list"]}),
        ({"tools": {}}, {"method": "tools/call", "params": {}}),
        ({"roots": {}}, {}),
        ({"roots": {}}, "roots/list"),
        ({"roots": {}}, None),
    ],
)
def test_what_was_not_declared_is_not_asked(can: Any, request_: Any) -> None:
    assert question(Hello(can), LAST, request_) is None


def test_questions_are_put_in_the_words_of_the_callers_version() -> None:
    everything = Hello({"elicitation": BOTH, "sampling": {"tools": {}}, "roots": {}})
    extra = {"x": 1e400, "y": [None]}
    assert question(everything, LAST, _form(**extra)) == _form(**extra)
    asked = question(everything, MIDDLE, _form())
    assert asked is not None
    assert asked["params"] == {"message": "?", "requestedSchema": {}}
    plain = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {}}}
    assert question(everything, LAST, plain) == plain
    assert question(everything, LAST, SAMPLE) == SAMPLE
    assert question(everything, LAST, ROOTS) == {"method": "roots/list", "params": {}}


def test_a_visit_has_the_id_that_the_version_before_wants() -> None:
    can = Hello({"elicitation": BOTH})
    first, second = question(can, LAST, VISIT), question(can, LAST, VISIT)
    assert first is not None
    assert second is not None
    assert first["params"].pop("elicitationId") != second["params"].pop("elicitationId")
    assert first == VISIT
    own: Any = {**VISIT, "params": {**VISIT["params"], "elicitationId": "own"}}
    assert question(can, LAST, own) == own
