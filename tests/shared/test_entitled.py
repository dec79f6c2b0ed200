"""Who may use which server, as the file says it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contracts.config import Config
from shared.entitled import servers_of


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
