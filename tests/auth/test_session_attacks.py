"""What is stolen from the store or kept from before is no way in, also while keys change."""

import base64
from collections.abc import Sequence

import pytest

from services.auth.attempts import Attempts
from services.auth.refusals import Reason, Refused
from shared.contracts.wire import SESSION_COOKIE
from shared.ids import is_token, new_token
from shared.signing import Seal
from shared.stores.memory import MemoryKeyValue
from shared.stores.sessions import SessionWriter
from shared.stores.tokens import TokenReader, TokenWriter
from tests.auth.conftest import Auth
from tests.auth.tokens import DAY, make, reader

OLD, NEW, INDEX = b"s" * 32, b"n" * 32, b"i" * 32


async def test_what_a_dump_holds_is_neither_a_cookie_nor_a_token(auth: Auth) -> None:
    """A thief of the store has digests and sealed records, and tries each of them."""
    browser = await auth.signed_in()
    token = await make(auth, browser)
    sessions = auth.sessions()
    cookie = browser.cookie(auth.url, SESSION_COOKIE) or ""
    digest = sessions.digest(cookie)
    sealed = await auth.store.get(f"sess:{digest}")
    assert sealed is not None
    text = base64.urlsafe_b64encode(sealed).decode().rstrip("=")
    thief = auth.browser()
    for stolen in (digest, f"sess:{digest}", text, text[:43], sessions.digest(digest)):
        thief.plant(auth.url, SESSION_COOKIE, stolen)
        assert (await thief.get(f"{auth.url}/auth/tokens")).status == 303, stolen
        assert not await auth.has_session(thief)
    relay = reader(auth)
    found = await relay.verify(token)
    assert found is not None
    for stolen in (found[0], f"strad_pat_{found[0]}", found[1].id):
        assert await relay.verify(stolen) is None


class Asked(MemoryKeyValue):
    """A store that writes down what is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.gets: list[str] = []

    async def get(self, key: str) -> bytes | None:
        self.gets.append(key)
        return await super().get(key)


async def test_the_time_of_a_lookup_tells_nothing_of_a_token(auth: Auth) -> None:
    """No token is ever compared: each is looked up by a keyed digest, once."""
    store = Asked()
    seal = Seal([OLD], INDEX)
    tokens = TokenReader(store, seal, auth.clock)
    found = await reader(auth).verify(await make(auth, await auth.signed_in()))
    assert found is not None
    real = await TokenWriter(store, seal, auth.clock).create(found[1])
    late = found[1].model_copy(update={"expires": int(auth.clock.now) + 1})
    expired = await TokenWriter(store, seal, auth.clock).create(late)
    auth.clock.now += 2
    lookups: list[Sequence[str]] = []
    for text in (real, expired, new_token(), new_token()):
        assert is_token(text)
        store.gets.clear()
        assert (await tokens.verify(text) is not None) is (text == real)
        lookups.append(tuple(store.gets))
    assert [len(keys) for keys in lookups] == [1, 1, 1, 1]
    # tokens that share all but the end have addresses that share nothing
    one, other = tokens.digest(real), tokens.digest(real[:-1] + "x")
    assert sum(a == b for a, b in zip(one, other, strict=True)) < 12


async def test_our_own_keys_may_change_in_the_middle_of_a_sign_in(auth: Auth) -> None:
    issuer = auth.config.provider.issuer
    begun = Attempts(auth.store, Seal([OLD], INDEX), auth.clock, issuer).begin("/", trusted=True)
    rotated = Attempts(auth.store, Seal([NEW, OLD], INDEX), auth.clock, issuer)
    assert (await rotated.take(begun.cookie)).state == begun.attempt.state
    later = Attempts(auth.store, Seal([NEW], INDEX), auth.clock, issuer)
    begun = Attempts(auth.store, Seal([OLD], INDEX), auth.clock, issuer).begin("/", trusted=True)
    with pytest.raises(Refused) as refused:
        await later.take(begun.cookie)
    assert refused.value.reason is Reason.COOKIE_MISSING


async def test_the_providers_keys_may_change_in_the_middle_of_a_sign_in(auth: Auth) -> None:
    await auth.signed_in()  # the old keys are known
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    assert auth.keys is not None
    auth.keys.rotate()
    assert (await browser.get(answer, "cross-site")).status == 200
    assert await auth.has_session(browser)


async def test_sessions_and_tokens_outlive_a_rotation_and_end_with_the_old_key(auth: Auth) -> None:
    browser = await auth.signed_in()
    token = await make(auth, browser, life=str(DAY))
    cookie = browser.cookie(auth.url, SESSION_COOKIE) or ""
    for keys, good in (([NEW, OLD], True), ([NEW], False)):
        seal = Seal(keys, INDEX)
        sessions = SessionWriter(auth.store, seal, auth.clock)
        found = await sessions.find(sessions.digest(cookie))
        assert (found is not None) is good
        verified = await TokenReader(auth.store, seal, auth.clock).verify(token)
        assert (verified is not None) is good
