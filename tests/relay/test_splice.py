"""One text of a JSON document is changed, and nothing beside it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.relay.messages.splice import with_text
from shared.contracts.problems import Problem

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(
    st.dictionaries(st.text(), _VALUES),
    st.dictionaries(st.text(), _VALUES),
    st.text(),
    st.text(),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
)
def test_any_document_keeps_all_but_the_named_text(
    outer: Any, inner: Any, old: str, new: str, indent: Any, escaped: bool
) -> None:
    def written(text: str) -> bytes:
        document = {**outer, "result": {**inner, "state": text}}
        return json.dumps(document, indent=indent, ensure_ascii=escaped).encode(
            errors="surrogatepass"
        )

    try:
        before = written(old)
        before.decode()
    except UnicodeDecodeError:
        return  # no JSON that could have been read
    changed = with_text(before, ("result", "state"), new)
    assert json.loads(changed) == json.loads(written(new))
    assert with_text(changed, ("result", "state"), "x") == with_text(
        before, ("result", "state"), "x"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            b'{"a":1e999,\n "result" : {"n":0.1000000000000000001, "state" :\t"o\\"ld" , "z":-0}}',
            b'{"a":1e999,\n "result" : {"n":0.1000000000000000001, "state" :\t"new" , "z":-0}}',
        ),
        (
            b'{"n":' + b"9" * 5000 + b',"result":{"state":""}}',
            b'{"n":' + b"9" * 5000 + b',"result":{"state":"new"}}',
        ),
        (b'{"\\u0072esult":{"st\\u0061te":"old"}}', b'{"\\u0072esult":{"st\\u0061te":"new"}}'),
        (
            b'{"result":{"state":"1","state":"2"},"result":{"state":"3"}}',
            b'{"result":{"state":"new","state":"new"},"result":{"state":"new"}}',
        ),
        (
            '{"ä":"é","result":{"state":"ü"}}'.encode(),
            '{"ä":"é","result":{"state":"new"}}'.encode(),
        ),
        (b'{"state":"old","x":{"result":{"state":"old"}}}', None),
        (b'{"result":[{"state":"old"}]}', None),
        (b'{"result":"state"}', None),
        (b'{"result":{ }}', None),
        (b"{}", None),
        (b" [1] ", None),
    ],
)
def test_bytes_beside_it_stay_as_they_were(before: bytes, after: bytes | None) -> None:
    assert with_text(before, ("result", "state"), "new") == (after or before)


def test_nesting_beyond_reach_is_refused() -> None:
    deep = b'{"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(Problem, match="nested too deep"):
        with_text(deep, ("result", "state"), "new")
