"""`tools:` of a server: a rule that never decides anything is found when the file is read."""

import itertools
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.tools import ToolsPolicy, covers, dead_rules, matches, overlap
from tests.shared.documents import GOOD, read

NAMES = ["".join(one) for n in range(6) for one in itertools.product("abx", repeat=n)]
PATTERNS = st.text("ab*", max_size=4)

DEAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "an allowed tool that is denied": (
        {"allow": ["get", "put"], "deny": ["put"]},
        "allow.1",
        "deny wins",
    ),
    "allowed by a pattern, denied by a wider one": (
        {"allow": ["ticket_get_*", "search"], "deny": ["ticket_*"]},
        "allow.0",
        "`ticket_*`",
    ),
    "everything is denied": ({"allow": ["get"], "deny": ["*"]}, "allow.0", "`*`"),
    "denied, but never allowed": ({"allow": ["get"], "deny": ["put"]}, "deny.0", "removes nothing"),
    "a pattern that meets nothing allowed": (
        {"allow": ["get_*"], "deny": ["*_put"], "each": {}},
        "",
        "",
    ),
    "a pattern that can meet nothing allowed": (
        {"allow": ["get_*"], "deny": ["put_*"]},
        "deny.0",
        "removes nothing",
    ),
    "denied where nothing is allowed": ({"allow": [], "deny": ["x"]}, "deny.0", "removes nothing"),
    "twice": ({"deny": ["a", "b", "a"]}, "deny.2", "twice"),
    "a name within a pattern": ({"allow": ["a*", "ab"]}, "allow.1", "`ab` is a part of `a*`"),
    "a pattern within a pattern": ({"deny": ["a*b*", "a*"]}, "deny.0", "is a part of `a*`"),
    "an empty name": ({"deny": [""]}, "deny.0", "empty"),
    "a word on a denied tool": (
        {"deny": ["del*"], "each": {"delete": {"read_only": False}}},
        "each.delete",
        "already remove",
    ),
    "a word on a tool that is not allowed": (
        {"allow": ["get"], "each": {"put": {"read_only": True}}},
        "each.put",
        "already remove",
    ),
    "a word on a pattern": ({"each": {"get_*": {"read_only": True}}}, "each.get_*", "no tool"),
    "a word that says nothing": ({"each": {"get": {}}}, "each.get", "says nothing"),
}


@pytest.mark.parametrize("name", DEAD)
def test_a_rule_that_never_decides_is_named(name: str) -> None:
    document, where, words = DEAD[name]
    found = list(dead_rules(ToolsPolicy.model_validate(document)))
    if not where:
        assert found == []  # `get_put` is both
        return
    assert [path for path, _, _ in found] == [where], found
    assert words in f"{found[0][1]} {found[0][2]}"
    assert found[0][2]


def test_all_of_them_come_at_once_with_their_places(tmp_path: Path) -> None:
    tools = {"allow": ["get", "get", "put"], "deny": ["put", "x"], "each": {"put": {}}}
    server = GOOD["servers"][0] | {"tools": tools}
    config, mistakes = read(tmp_path, GOOD | {"servers": [server]})
    assert config is None
    places = sorted(where.removeprefix("servers.0.tools.") for where, _, _ in mistakes)
    assert places == ["allow.1", "allow.2", "deny.1", "each.put", "each.put"]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"allow": ["*"]},
        {"allow": []},
        {"deny": ["*_delete", "admin_*"]},
        {"allow": ["ticket_*", "search"], "deny": ["ticket_delete", "*_all"]},
        {"each": {"get": {"read_only": True}, "put": {"read_only": False}}},
    ],
)
def test_rules_that_mean_something_are_left_alone(document: dict[str, Any]) -> None:
    assert list(dead_rules(ToolsPolicy.model_validate(document))) == []


@given(PATTERNS, PATTERNS)
def test_patterns_are_compared_as_their_names_are(one: str, other: str) -> None:
    meant = {name for name in NAMES if matches(one, name)}
    also = {name for name in NAMES if matches(other, name)}
    assert overlap(one, other) == overlap(other, one)
    if meant & also:
        assert overlap(one, other)
    if covers(other, one):
        assert meant <= also
    # names as long as five letters tell patterns of four apart
    elif "*" in one or one in NAMES:
        assert meant - also or not meant


@given(st.lists(PATTERNS, max_size=3), st.lists(PATTERNS, max_size=3), st.sampled_from(["a", "ab"]))
def test_what_is_named_dead_can_go_and_nothing_changes(
    allow: list[str], deny: list[str], each: str
) -> None:
    policy = ToolsPolicy.model_validate({"allow": allow, "deny": deny})
    for path, _, _ in dead_rules(policy):
        name, number = path.split(".")
        rest = {"allow": list(allow), "deny": list(deny)}
        del rest[name][int(number)]
        without = ToolsPolicy.model_validate(rest)
        assert all(policy.permits(one) == without.permits(one) for one in NAMES if one)


def test_only_a_star_is_more_than_itself() -> None:
    for pattern, name in (("a?", "ab"), ("[ab]", "a"), ("[!a]", "b"), ("a.c", "abc")):
        assert not matches(pattern, name)
        assert matches(pattern, pattern)
    assert matches("a*c", "abbc")
    assert matches("*", "a\nb")


def test_a_long_name_is_compared_in_no_time() -> None:
    started = time.process_time()
    assert not matches("*a" * 20 + "b", "a" * 100_000)
    assert time.process_time() - started < 1
