"""`strad token`: an operator lists, makes and revokes a person's access tokens."""

import pytest

from services.auth.operator import tokens
from services.auth.operator.desk import Unknown, Wrong
from tests.auth.conftest import Auth
from tests.auth.test_people import desk_of
from tests.auth.test_trail import trail
from tests.auth.tokens import make, reader

ADA = "ada@strad.test"


async def test_an_operator_makes_lists_and_revokes_a_token_for_a_person(auth: Auth) -> None:
    await auth.signed_in()
    desk = desk_of(auth)
    text = await tokens.make(desk, ADA, "Robot", 7, ["toys", "toys"], read_only=True)
    found = await reader(auth).verify(text)
    assert found is not None
    record = found[1]
    assert (record.person.email, record.label, record.servers) == (ADA, "Robot", ("toys",))
    assert record.read_only
    assert record.expires - record.created == 7 * 86400
    listed = await tokens.show(desk, ADA)
    assert listed.startswith(f"{record.id}  Robot  toys  until ")
    assert text not in listed
    assert record.id in await tokens.revoke(desk, ADA, record.id)
    assert await reader(auth).verify(text) is None
    assert await tokens.show(desk, ADA) == f"{ADA} has no access tokens."
    told = [(one["event"], one.get("token"), one.get("by")) for one in await trail(auth)][1:]
    assert told == [
        ("token-created", record.id, "operator"),
        ("token-revoked", record.id, "operator"),
    ]


@pytest.mark.parametrize(
    ("name", "days", "servers", "fix"),
    [
        ("", 7, [], "Give it a name"),
        ("Laptop", 7, [], "already"),
        ("Robot", 0, [], "write 1 to 90"),
        ("Robot", 91, [], "write 1 to 90"),
        ("Robot", 7, ["vault"], "choose among: news, toys"),
        ("Robot", 7, ["nothing"], "choose among: news, toys"),
    ],
)
async def test_what_the_page_would_refuse_the_command_refuses(
    auth: Auth, name: str, days: int, servers: list[str], fix: str
) -> None:
    await make(auth, await auth.signed_in())
    with pytest.raises(Wrong) as wrong:
        await tokens.make(desk_of(auth), ADA, name, days, servers, read_only=False)
    assert fix in wrong.value.fix


async def test_nobody_gets_a_token_who_has_never_signed_in_nor_loses_anothers(auth: Auth) -> None:
    desk = desk_of(auth)
    with pytest.raises(Unknown):
        await tokens.make(desk, ADA, "Robot", 7, [], read_only=False)
    text = await make(auth, await auth.signed_in())
    await auth.signed_in("demo-charles")
    found = await reader(auth).verify(text)
    assert found is not None
    with pytest.raises(Wrong):
        await tokens.revoke(desk, "charles@strad.test", found[1].id)
    assert await reader(auth).verify(text) is not None
