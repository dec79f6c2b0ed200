"""Who may use which server, as the file says it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.config import Config
from shared.entitled import Directory, servers_of


def config(**access: dict[str, Any]) -> Config:
    return Config.model_validate(
        {
            "public_url": "https://strad.test",
            "provider": {
                "client_id": "c",
                "client_secret": {"env": "X"},
                "allow": {"domains": ["strad.test"]},
            },
            "administrators": ["root@strad.test"],
            "groups": {"makers": ["ada@strad.test", "bob@strad.test"], "empty": []},
            "servers": [
                {"slug": slug, "name": slug, "url": "http://x/", "access": rules}
                for slug, rules in access.items()
            ],
        }
    )


PEOPLE = ["ada@strad.test", "bob@strad.test", "dan@strad.test"]
HOUSE = config(
    everyones={"everyone": True},
    makers={"groups": ["makers"]},
    adas={"people": ["Ada@Strad.test"]},
    both={"people": ["eve@strad.test"], "groups": ["makers"]},
    nobodys={"groups": ["empty"]},
)


@pytest.mark.parametrize(
    ("email", "slugs"),
    [
        ("ada@strad.test", {"everyones", "makers", "adas", "both"}),
        ("ADA@STRAD.TEST", {"everyones", "makers", "adas", "both"}),
        ("bob@strad.test", {"everyones", "makers", "both"}),
        ("eve@strad.test", {"everyones", "both"}),
        ("root@strad.test", {"everyones"}),  # an administrator gets no server by that
        ("ada@strad.test.evil.test", {"everyones"}),
        ("xada@strad.test", {"everyones"}),
        ("", {"everyones"}),
    ],
)
def test_a_person_has_the_servers_that_name_them(email: str, slugs: set[str]) -> None:
    assert servers_of(HOUSE, email) == slugs


@given(st.text())
def test_a_stranger_has_what_everyone_has_and_no_more(email: str) -> None:
    assert servers_of(HOUSE, email) <= {"everyones"} or email.lower() in {
        "ada@strad.test",
        "bob@strad.test",
        "eve@strad.test",
    }


def test_without_servers_nobody_has_any() -> None:
    assert servers_of(config(), "ada@strad.test") == frozenset()


@given(
    st.dictionaries(st.sampled_from("xyz"), st.lists(st.sampled_from(PEOPLE), max_size=4)),
    st.lists(
        st.fixed_dictionaries(
            {
                "people": st.lists(st.sampled_from(PEOPLE), max_size=3),
                "groups": st.lists(st.sampled_from("xyz"), max_size=3),
                "everyone": st.booleans(),
            }
        ),
        max_size=5,
    ),
)
def test_the_index_answers_what_the_rule_says(groups: Any, access: list[Any]) -> None:
    servers = {f"s{number}": one for number, one in enumerate(access)}
    house = config(**servers).model_copy(
        update={"groups": {k: tuple(v) for k, v in groups.items()}}
    )
    directory = Directory(house)
    for email in (*PEOPLE, "ADA@strad.test", "eve@strad.test", ""):
        assert directory.servers_of(email) == servers_of(house, email)


def test_whatever_changes_an_answer_changes_the_digest() -> None:
    digests = {
        Directory(house).digest
        for house in (
            HOUSE,
            config(makers={"groups": ["makers"]}),
            config(others={"groups": ["makers"]}),
            config(makers={"groups": ["empty"]}),
            config(makers={"people": ["ada@strad.test"]}),
            HOUSE.model_copy(update={"groups": {"makers": ("ada@strad.test",)}}),
        )
    }
    assert len(digests) == 6
    again = HOUSE.model_copy(update={"tokens": HOUSE.tokens})
    assert Directory(again).digest == Directory(HOUSE).digest
