"""Who may sign in: the e-mail address, its verification, and the operator's rules."""

from typing import Any

import pytest

from services.auth.person import person_of
from services.auth.refusals import Reason, Refused
from shared.contracts.config import AllowedPeople, Provider
from shared.contracts.identity import Person
from shared.entitled import may_sign_in

RULES = {
    "issuer": "https://accounts.google.com",
    "client_id": "c",
    "client_secret": {"env": "X"},
    "allow": {"domains": ["strad.test"], "people": ["guest@elsewhere.test", "kate@x.test"]},
}
ADA = {"sub": "1", "email": "ada@strad.test", "email_verified": True, "hd": "strad.test"}
GUEST = {"sub": "2", "email": "guest@elsewhere.test", "email_verified": True}


def rules(**changes: Any) -> Provider:
    return Provider.model_validate(RULES | changes)


@pytest.mark.parametrize(
    "claims",
    [
        ADA,
        GUEST,
        GUEST | {"email": "Guest@Elsewhere.TEST"},
        ADA | {"email": "private@gmail.test"},  # the organisation vouches, not the address
        ADA | {"hd": "Strad.Test"},
    ],
)
def test_whom_the_rules_name_may_sign_in(claims: dict[str, Any]) -> None:
    person = person_of(claims, rules())
    assert person.email == claims["email"].lower()
    assert person.sub == claims["sub"]


@pytest.mark.parametrize(
    "claims",
    [
        ADA | {"hd": None},
        ADA | {"hd": ""},
        ADA | {"hd": "elsewhere.test"},
        ADA | {"hd": "notstrad.test"},
        ADA | {"hd": "sub.strad.test"},
        ADA | {"hd": "strad.test.evil.test"},
        ADA | {"hd": ["strad.test"]},
        ADA | {"hd": " strad.test"},
        ADA | {"hd": "\u017ftrad.test"},
        {"sub": "3", "email": "eve@strad.test", "email_verified": True},  # no hd: an address only
        GUEST | {"email": "guest@elsewhere.test.evil.test"},
        GUEST | {"email": "xguest@elsewhere.test"},
    ],
)
def test_whom_no_rule_names_may_not(claims: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        person_of(claims, rules())
    assert refused.value.reason is Reason.NOT_ALLOWED


def test_empty_rules_let_nobody_in() -> None:
    somebody = Person(
        issuer="i", sub="1", email="ada@strad.test", name="Ada", organisation="strad.test"
    )
    nobody = Person(issuer="i", sub="1", email="", name="", organisation="")
    assert not may_sign_in(AllowedPeople(), somebody)
    assert not may_sign_in(AllowedPeople(), nobody)


@pytest.mark.parametrize("verified", [False, None, "true", "false", 1, "True", [True], {}])
def test_only_true_is_verified(verified: object) -> None:
    with pytest.raises(Refused) as refused:
        person_of(ADA | {"email_verified": verified}, rules())
    assert refused.value.reason is Reason.EMAIL_UNVERIFIED


def test_an_operator_may_do_without_verification() -> None:
    claims = {key: value for key, value in ADA.items() if key != "email_verified"}
    assert person_of(claims, rules(require_email_verified=False)).email == "ada@strad.test"


@pytest.mark.parametrize("email", [None, "", 7, ["ada@strad.test"], {"a": 1}])
def test_an_account_without_an_address_is_named(email: object) -> None:
    with pytest.raises(Refused) as refused:
        person_of(ADA | {"email": email}, rules())
    assert refused.value.reason is Reason.EMAIL_MISSING


@pytest.mark.parametrize(
    "email",
    [
        "guest@elsewhere.test@evil.test",
        "evil@evil.test@strad.test",
        '"guest@elsewhere.test"@evil.test',
        "ada @strad.test",
        " ada@strad.test",
        "ada@strad.test ",
        "ada@strad.test\n",
        "ada\t@strad.test",
        "ada@strad.test\x00",
        "ad\u00e4@strad.test",
        "\u212aate@x.test",  # the Kelvin sign: its lower case is the letter k
        "ada@str\u0430d.test",
        "ada",
        "@strad.test",
        "ada@",
        "ada@strad",
        "ada@.test",
        "ada@strad..test",
        "<ada@strad.test>",
        "a" * 250 + "@strad.test",
    ],
)
def test_an_odd_address_is_refused(email: str) -> None:
    with pytest.raises(Refused) as refused:
        person_of(ADA | {"email": email}, rules())
    assert refused.value.reason is Reason.EMAIL_MALFORMED


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("  Ada\n\tLovelace ", "Ada Lovelace"),
        ("Ada\u202eLovelace", "AdaLovelace"),
        ("", "ada@strad.test"),
        (None, "ada@strad.test"),
        (["x"], "ada@strad.test"),
        ("\u200b", "ada@strad.test"),
        ("x" * 500, "x" * 80),
        ("<b>Ada</b>", "<b>Ada</b>"),  # escaped where it is shown
    ],
)
def test_a_name_is_one_printable_line(name: object, shown: str) -> None:
    assert person_of(ADA | {"name": name}, rules()).name == shown


def test_the_same_sub_at_another_issuer_is_another_person() -> None:
    one = person_of(ADA, rules())
    other = person_of(ADA, rules(issuer="https://id.example.com"))
    assert one.subject != other.subject


def test_another_address_is_the_same_person() -> None:
    assert (
        person_of(ADA, rules()).subject == person_of(ADA | {"email": "b@x.test"}, rules()).subject
    )
