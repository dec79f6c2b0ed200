"""Whose an e-mail address is, and what an operator does about it."""

import copy

import pytest

from services.auth.operator import people
from services.auth.operator.desk import Desk, Unknown, desk
from services.auth.people import People
from shared import keys
from shared.contracts.identity import Person
from shared.signing import Seal
from tests.auth.browser import assert_refused
from tests.auth.conftest import AUDIT_SEAL, Auth, Clock
from tests.auth.test_trail import trail
from tests.auth.tokens import make, reader

ADA = Person(issuer="https://id.test", sub="1", email="ada@strad.test", name="Ada")
LATER = ADA.model_copy(update={"sub": "2", "name": "Another Ada"})


def desk_of(auth: Auth) -> Desk:
    return desk(auth.config, auth.store, auth.seal, AUDIT_SEAL, auth.clock)


def people_of(auth: Auth) -> People:
    return People(auth.store, auth.seal, auth.clock)


async def test_another_account_with_a_persons_address_is_refused(auth: Auth) -> None:
    """The address went to somebody else at the provider; what it may do here did not."""
    assert await people_of(auth).claim(LATER)
    browser = auth.browser()
    page = await auth.sign_in(browser)
    assert_refused(page, "bound-elsewhere", 403)
    assert "Use another account" in page.text
    assert not await auth.has_session(browser)
    (told,) = await trail(auth)
    assert (told["event"], told["reason"]) == ("sign-in-denied", "bound-elsewhere")


async def test_the_same_account_signs_in_as_often_as_it_likes(auth: Auth) -> None:
    for _ in range(3):
        await auth.signed_in()


async def test_an_operator_unbinds_an_address_and_ends_what_its_account_held(auth: Auth) -> None:
    browser = await auth.signed_in()
    token = await make(auth, browser)
    said = await people.unbind(desk_of(auth), "ada@strad.test")
    assert said == (
        "ada@strad.test is free. Ended for the account that had it: sessions: 1, access tokens: 1,"
        " connected clients: 0."
    )
    assert not await auth.has_session(browser)
    assert await reader(auth).verify(token) is None
    assert await people_of(auth).claim(LATER)
    assert_refused(await auth.sign_in(auth.browser()), "bound-elsewhere", 403)


async def test_an_operator_ends_all_that_one_person_holds_and_nobody_elses(auth: Auth) -> None:
    first, second = await auth.signed_in(), await auth.signed_in()
    charles = await auth.signed_in("demo-charles")
    token, his = await make(auth, first), await make(auth, charles)
    said = await people.end(desk_of(auth), "ada@strad.test")
    assert said == "Ended for ada@strad.test: sessions: 2, access tokens: 1, connected clients: 0."
    assert not await auth.has_session(first)
    assert not await auth.has_session(second)
    assert await reader(auth).verify(token) is None
    assert await auth.has_session(charles)
    assert await reader(auth).verify(his) is not None
    told = (await trail(auth))[-1]
    assert (told["event"], told["email"], told["by"]) == (
        "person-ended",
        "ada@strad.test",
        "operator",
    )


async def test_an_address_that_nobody_signed_in_with_is_named_as_such(auth: Auth) -> None:
    with pytest.raises(Unknown, match=r"Nobody has signed in with eve@strad\.test"):
        await people.end(desk_of(auth), "eve@strad.test")


async def test_a_writer_of_the_store_cannot_give_an_address_away(auth: Auth) -> None:
    """He knows both subjects and the form; a binding that is not ours lets nobody in."""
    kept, own = people_of(auth), auth.seal.digest("address", ADA.email)
    key = keys.BOUND.key(own)
    assert await kept.claim(ADA)
    real = await auth.store.get(key)
    assert real is not None
    forger = People(copy.copy(auth.store), Seal([b"s" * 32], b"x" * 32), auth.clock)
    other = LATER.model_copy(update={"email": "eve@strad.test"})
    assert await kept.claim(other)
    moved = await auth.store.get(keys.BOUND.key(auth.seal.digest("address", other.email)))
    assert moved is not None
    for value in (
        LATER.subject.encode(),
        f"{LATER.subject}.".encode() + real.partition(b".")[2],
        forger._value(ADA.email, LATER.subject),
        moved,
        b"",
        b"\xff.\xff",
    ):
        await auth.store.put(key, value, 60)
        assert not await kept.claim(LATER)
        assert await kept.subject_of(ADA.email) is None
    await auth.store.put(key, real, 60)
    assert await kept.claim(ADA)


async def test_of_two_accounts_at_once_one_gets_the_address(auth: Auth) -> None:
    kept = people_of(auth)
    assert [await kept.claim(ADA), await kept.claim(LATER)] == [True, False]
    assert await kept.subject_of(ADA.email) == ADA.subject


async def test_a_rotated_seal_locks_nobody_out_and_moves_no_address(
    auth: Auth, clock: Clock
) -> None:
    """Also when the old key is gone: only what was remembered besides is forgotten."""
    assert await people_of(auth).claim(ADA)
    rotated = People(auth.store, Seal([b"n" * 32], b"i" * 32), clock)
    assert await rotated.find(ADA.email) is None
    assert not await rotated.claim(LATER)
    assert await rotated.claim(ADA)
    assert await rotated.find(ADA.email) == ADA


async def test_a_new_address_of_a_person_is_theirs_too(auth: Auth) -> None:
    kept = people_of(auth)
    moved = ADA.model_copy(update={"email": "ada.l@strad.test"})
    assert await kept.claim(ADA)
    assert await kept.claim(moved)
    assert await kept.subject_of("ada.l@strad.test") == ADA.subject
    assert await kept.find("ada.l@strad.test") == moved
