"""A refresh token that comes again: because its answer was lost, or because somebody stole it."""

import asyncio

import pytest

from services.auth.oauth.again import AGAIN_SECONDS, Again
from services.auth.oauth.parts import store_of
from shared import keys
from shared.signing import Seal
from tests.auth.conftest import Auth
from tests.auth.oauth_client import OAuthClient
from tests.auth.test_oauth_attacks import live


@pytest.fixture
async def client(auth: Auth) -> OAuthClient:
    """A client that has registered."""
    made = OAuthClient(auth)
    assert (await made.register()).status == 201
    return made


@pytest.fixture
async def first(auth: Auth, client: OAuthClient) -> str:
    """The refresh token of a client that is connected."""
    return str((await client.connected(await auth.signed_in()))["refresh_token"])


async def test_a_client_whose_answer_was_lost_gets_the_same_answer_again(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    lost = await client.refresh(first)
    auth.clock.now += AGAIN_SECONDS - 1
    again = await client.refresh(first)
    assert again.status == 200
    assert again.body == lost.body
    assert again.headers["Cache-Control"] == "no-store"
    assert await live(auth, again.body["access_token"])
    # and nothing is left of the first use: all goes on from here
    after = (await client.refresh(again.body["refresh_token"])).body
    assert await live(auth, after["access_token"])


async def test_processes_that_share_a_token_and_refresh_at_once_all_get_the_same(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    got = await asyncio.gather(*(client.refresh(first) for _ in range(6)))
    assert {one.status for one in got} == {200}
    assert len({one.body["access_token"] for one in got}) == 1
    assert len({one.body["refresh_token"] for one in got}) == 1
    assert await live(auth, got[0].body["access_token"])


async def _ends(auth: Auth, client: OAuthClient, token: str, *given: dict[str, str]) -> None:
    refused = await client.refresh(token)
    assert (refused.status, refused.body["error"]) == (400, "invalid_grant")
    for one in given:
        assert not await live(auth, one["access_token"])
        assert (await client.refresh(one["refresh_token"])).body["error"] == "invalid_grant"


async def test_a_token_that_comes_again_too_late_ends_its_family(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    second = (await client.refresh(first)).body
    auth.clock.now += AGAIN_SECONDS
    await _ends(auth, client, first, second)


async def test_once_the_next_refresh_token_was_used_the_first_ends_the_family(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    second = (await client.refresh(first)).body
    third = (await client.refresh(second["refresh_token"])).body
    await _ends(auth, client, first, second, third)


async def test_once_the_next_access_token_was_used_the_first_ends_the_family(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    second = (await client.refresh(first)).body
    digest = auth.seal.digest("token", second["access_token"])
    await auth.store.put(keys.TOKEN_SEEN.key(digest), b"1", 60)  # as the relay notes it
    await _ends(auth, client, first, second)


async def test_of_a_thief_and_a_client_with_the_same_answer_the_second_to_use_it_is_found_out(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    stolen, own = (await client.refresh(first)).body, (await client.refresh(first)).body
    theirs = (await client.refresh(stolen["refresh_token"])).body
    auth.clock.now += AGAIN_SECONDS
    await _ends(auth, client, own["refresh_token"], own, theirs)


async def test_another_client_or_audience_gets_no_answer_and_ends_nothing(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    other = OAuthClient(auth)
    await other.register()
    second = (await client.refresh(first)).body
    assert (await other.refresh(first)).body["error"] == "invalid_grant"
    wrong = await client.refresh(first, resource="https://x.test/mcp")
    assert wrong.body["error"] == "invalid_target"
    assert await live(auth, second["access_token"])
    assert (await client.refresh(first)).body == second


async def test_after_a_client_was_ended_its_token_gets_nothing_again(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    second = (await client.refresh(first)).body
    await client.post("/oauth/revoke", {"token": second["refresh_token"], "client_id": client.id})
    await _ends(auth, client, first, second)


async def test_a_writer_of_the_store_can_neither_make_move_nor_stretch_an_answer(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    kept = store_of(auth.config, auth.store, auth.seal, auth.clock)
    second = (await client.refresh(first)).body
    mark = await auth.store.get(kept.used_key(first))
    assert mark is not None
    third = (await client.refresh(second["refresh_token"])).body
    for value in (mark, b"1", b"", mark[:-1] + b"x"):
        await auth.store.put(kept.used_key(second["refresh_token"]), value, 60)
        again = Again(kept, auth.store, auth.seal, auth.clock)
        assert await again.answer(second["refresh_token"]) is None
    await _ends(auth, client, second["refresh_token"], second, third)


async def test_neither_the_store_nor_the_key_of_the_seal_shows_a_token(
    auth: Auth, client: OAuthClient, first: str
) -> None:
    kept = store_of(auth.config, auth.store, auth.seal, auth.clock)
    second = (await client.refresh(first)).body
    mark = await auth.store.get(kept.used_key(first))
    assert mark is not None
    opened = repr(auth.seal.open(kept.used_key(first), mark, auth.clock()))
    for secret in (first, second["access_token"], second["refresh_token"]):
        assert secret.encode() not in mark
        assert secret not in opened
    # with the token that was used, and another seal, neither
    other = Again(kept, auth.store, Seal([b"o" * 32], b"i" * 32), auth.clock)
    assert await other.answer(first) is None
