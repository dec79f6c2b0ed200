"""A schema becomes fields of a known shape; what no person should be asked becomes a reason."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.apphost import fields
from services.apphost.fields import Unaskable

KEYS = {"name", "label", "hint", "tag", "attributes", "choices", "reads", "optional"}
ATTRIBUTES = {"type", "autocomplete", "required", "value", "checked", "step", "multiple", "rows"}
ATTRIBUTES |= {"placeholder", "spellcheck", "min", "max", "minLength", "maxLength"}
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)
WORDS = st.sampled_from(
    ["type", "title", "description", "default", "enum", "enumNames", "oneOf", "anyOf", "items"]
) | st.sampled_from(["const", "format", "minimum", "maximum", "minLength", "maxLength", "required"])
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "array", "object"])
PROPERTY = st.dictionaries(WORDS, JSON | TYPES) | JSON
SCHEMA = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(st.text(), PROPERTY)},
    optional={"required": st.lists(st.text()) | JSON},
)


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def asked(**properties: Any) -> list[fields.Field]:
    return fields.of_question(of(**properties))


@given(SCHEMA | JSON)
def test_whatever_a_schema_says_a_field_has_the_known_shape(schema: Any) -> None:
    found = fields.of_tool(schema)
    json.dumps([found, fields.defaults(schema)])
    for field in found:
        assert set(field) == KEYS
        assert set(field["attributes"]) <= ATTRIBUTES
        assert field["tag"] in {"input", "select", "textarea"}
        least, most = (field["attributes"].get(f"{end}Length", 0) for end in ("min", "max"))
        assert 0 <= least < 2**31
        assert 0 <= most < 2**31
        assert "maxLength" not in field["attributes"] or least <= most


@given(SCHEMA | JSON)
def test_a_question_is_of_simple_values_or_it_is_not_asked(schema: Any) -> None:
    try:
        found = fields.of_question(schema)
    except Unaskable:
        return
    assert len(found) <= fields.MOST_ASKED
    assert all(field["tag"] != "textarea" for field in found)


def test_each_kind_gets_its_control() -> None:
    text, mail, day, moment, count, weight, yes, one, several = asked(
        text={"type": "string", "minLength": 2, "maxLength": 9, "default": "toy"},
        mail={"type": "string", "format": "email"},
        day={"type": "string", "format": "date"},
        moment={"type": "string", "format": "date-time"},
        count={"type": "integer", "minimum": 1, "maximum": 5, "default": 2},
        weight={"type": "number"},
        yes={"type": "boolean", "default": True},
        one={"type": "string", "oneOf": [{"const": "r", "title": "Red"}], "default": "r"},
        several={"type": "array", "items": {"enum": ["a", "b"]}, "default": ["b"]},
    )
    assert text["attributes"] == {
        "type": "text",
        "autocomplete": "off",
        "minLength": 2,
        "maxLength": 9,
        "value": "toy",
        "required": False,
    }
    kinds = [field["attributes"]["type"] for field in (mail, day, moment)]
    assert kinds == ["email", "date", "datetime-local"]
    assert moment["reads"] == "moment"
    assert count["attributes"].items() >= {"type": "number", "min": 1, "max": 5}.items()
    assert "step" not in count["attributes"]
    assert weight["attributes"]["step"] == "any"
    assert yes["attributes"]["checked"] is True
    assert one["choices"] == [("r", "Red", True)]
    assert (several["choices"], several["reads"]) == (
        [("a", "a", False), ("b", "b", True)],
        "several",
    )


def test_a_field_says_its_title_its_name_and_whether_it_may_be_left_out() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "title": "How many"}}}
    (field,) = fields.of_question(schema)
    assert (field["label"], field["hint"]) == ("How many (optional)", "n")
    assert field["optional"] is True
    long = {"type": "string", "title": "t" * 500, "description": "d" * 500}
    (field,) = asked(name=long)
    assert (len(field["label"]), len(field["hint"])) == (fields.MAX_LABEL, fields.MAX_HINT)


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("password", {"type": "string"}),
        ("userPassword", {"type": "string"}),
        ("PASSWD", {"type": "string"}),
        ("value", {"type": "string", "title": "Your API key"}),
        ("api_key", {"type": "string"}),
        ("apiKey", {"type": "string"}),
        ("x", {"type": "string", "format": "password"}),
        ("x", {"type": "string", "writeOnly": True}),
        ("card", {"type": "string", "title": "CVC"}),
        ("otp-code", {"type": "string"}),
        ("access_token", {"type": "string"}),
    ],
)
def test_no_person_is_asked_for_a_secret(name: str, schema: Any) -> None:
    with pytest.raises(Unaskable, match="Secrets are never asked for here"):
        asked(**{name: schema})


@pytest.mark.parametrize("name", ["passenger", "spinning", "tokenizer", "compass", "keyboard"])
def test_a_word_that_only_looks_like_one_is_asked(name: str) -> None:
    assert asked(**{name: {"type": "string"}})[0]["name"] == name


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (None, "no object"),
        ({"type": "string"}, "no object"),
        (of(a={"type": "object"}), "not a simple value"),
        (of(a={"type": "array", "items": {"type": "object"}}), "not a simple value"),
        (of(a={"type": ["string", "null"]}), "not a simple value"),
        (of(a={}), "not a simple value"),
        (of(**{f"f{n}": {"type": "string"} for n in range(21)}), "21 things at once"),
    ],
)
def test_what_is_no_simple_question_is_refused_with_its_reason(schema: Any, reason: str) -> None:
    with pytest.raises(Unaskable, match=reason):
        fields.of_question(schema)
