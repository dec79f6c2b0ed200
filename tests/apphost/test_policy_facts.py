"""What the host page is told of a policy fits into a header, whatever a server declares."""

import json
import re
from typing import Any
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from services.apphost import csp, policy_facts
from shared.contracts.config import AppSettings

APP = AppSettings(scripts=True)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40) | st.just("é\r\n\"'\\;," * 90),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=12,
)
declared = st.fixed_dictionaries(
    {},
    optional={
        "csp": values
        | st.fixed_dictionaries(
            {},
            optional={"resourceDomains": values, "connectDomains": values, "frameDomains": values},
        ),
        "permissions": values,
    },
)


@given(declared)
def test_the_header_is_one_quoted_word_of_bounded_size(ui: dict[str, Any]) -> None:
    found = csp.declared(ui, "strad.example.com")
    told = policy_facts.facts(found, ui, AppSettings())
    header = policy_facts.header(told, ui)
    match = re.fullmatch(r'policy;desc="([A-Za-z0-9%_.~/-]*)"', header)
    assert match
    assert [tuple(pair) for pair in json.loads(unquote(match[1]))] == told
    assert len(header) < 30_000


def test_the_largest_declaration_still_fits() -> None:
    many = [f"https://{'a' * 60}.{n}.example" for n in range(100)]
    ui = {
        "csp": dict.fromkeys(("resourceDomains", *policy_facts._NEVER), ["é" * 300] * 50 + many),
        "permissions": {f"p{n}": {} for n in range(1000)},
    }
    told = policy_facts.facts(csp.declared(ui, "strad.example.com"), ui, APP)
    assert all(len(text) <= 700 for _, text in told)
    assert len(policy_facts.header(told, ui)) < 8000
