"""Everything that a person holds ends, also what is being made at that very moment."""

from collections.abc import Awaitable, Callable

import pytest

from shared import keys
from shared.contracts.identity import Token
from shared.ids import new_id
from shared.stores.memory import MemoryKeyValue
from shared.stores.tokens import TokenWriter
from tests.auth.conftest import CHARLES, Auth, Clock, StartBoth
from tests.auth.oauth_client import OAuthClient, answer
from tests.auth.test_people import desk_of
from tests.auth.tokens import create, reader

EMAIL = "charles@strad.test"


class Meanwhile(MemoryKeyValue):
    """A store in which something happens once, before a key of this kind is written or listed."""

    prefix = "none"
    happens: Callable[[], Awaitable[object]] | None = None

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        await self._let_happen(key)
        await super().put(key, value, seconds)

    async def index(self, key: str) -> set[str]:
        await self._let_happen(key)
        return await super().index(key)

    async def _let_happen(self, key: str) -> None:
        if self.happens is not None and key.startswith(self.prefix):
            now, self.happens = self.happens, None
            await now()


@pytest.fixture
def store(clock: Clock) -> Meanwhile:
    return Meanwhile(clock)


@pytest.fixture
async def auth(start_both: StartBoth, store: Meanwhile) -> Auth:
    return await start_both(store=store)


async def end(auth: Auth) -> str:
    """As an administrator or operator does."""
    desk = desk_of(auth)
    return str(await desk.end(await desk.subject(EMAIL)))


async def test_a_code_that_nobody_has_redeemed_yet_ends_too(auth: Auth) -> None:
    browser, client = await auth.signed_in(CHARLES), OAuthClient(auth)
    await client.register()
    code = await client.code(browser)
    assert await end(auth) == "sessions: 1, access tokens: 0, connected clients: 1"
    assert (await client.redeem(code)).body["error"] == "invalid_grant"


async def test_a_client_that_is_just_being_allowed_ends_too(auth: Auth, store: Meanwhile) -> None:
    browser, client = await auth.signed_in(CHARLES), OAuthClient(auth)
    await client.register()
    page = await client.ask(browser)
    for prefix in (keys.OAUTH.key("allowed"), keys.OAUTH.key("code")):
        store.prefix, store.happens = prefix, lambda: end(auth)
        refused = await answer(browser, page)
        assert store.happens is None
        assert refused.status == 401
        assert "code=" not in refused.text
        browser = await auth.signed_in(CHARLES)
        page = await client.ask(browser)


async def test_a_token_that_is_just_being_made_ends_too(auth: Auth, store: Meanwhile) -> None:
    browser = await auth.signed_in(CHARLES)
    store.prefix, store.happens = keys.TOKEN.prefix, lambda: end(auth)
    refused = await create(auth, browser)
    assert store.happens is None
    assert refused.status == 401
    assert "strad_pat_" not in refused.text
    assert await store.index(keys.TOKENS_OF.key(await desk_of(auth).subject(EMAIL))) == set()


async def test_a_token_made_before_its_session_has_ended_ends_with_it(
    auth: Auth, store: Meanwhile
) -> None:
    await auth.signed_in(CHARLES)
    person = await desk_of(auth).people.find(EMAIL)
    assert person is not None
    now, made = int(auth.clock()), list[str]()
    record = Token(
        id=new_id(), person=person, label="late", servers=None, created=now, expires=now + 600
    )

    async def make() -> None:
        made.append(await TokenWriter(auth.store, auth.seal, auth.clock).create(record))

    store.prefix, store.happens = keys.SESSIONS_OF.prefix, make
    assert await end(auth) == "sessions: 1, access tokens: 1, connected clients: 0"
    assert await reader(auth).verify(made[0]) is None
