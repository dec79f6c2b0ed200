"""What auth writes into the audit trail, and that nothing happens when it cannot."""

from collections.abc import Sequence
from typing import Any

from shared.contracts.wire import SESSION_COOKIE
from shared.stores.audit import TrailReader
from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.auth.conftest import AUDIT_SEAL, CHARLES, Auth, Clock, StartAuth
from tests.auth.tokens import create, make, reader


async def trail(auth: Auth) -> list[dict[str, Any]]:
    found = TrailReader(auth.store, AUDIT_SEAL, auth.clock)
    return [record async for record in found.entries(0)]


class Unwritten(MemoryKeyValue):
    """A store whose audit trail cannot be written."""

    away = False

    async def append(self, key: str, values: Sequence[bytes], most: int) -> None:
        if self.away:
            raise StoreUnavailable("away")
        await super().append(key, values, most)


async def test_signing_in_and_out_and_tokens_are_told(auth: Auth) -> None:
    browser = await auth.signed_in()
    cookie = browser.cookie(auth.url, SESSION_COOKIE)
    assert cookie
    session = auth.sessions().digest(cookie)[:12]
    text = await make(auth, browser)
    found = await reader(auth).verify(text)
    assert found is not None
    await browser.post(f"{auth.url}/auth/tokens/{found[1].id}/revoke", {})
    await browser.post(f"{auth.url}/auth/tokens/unknown/revoke", {})
    await browser.post(f"{auth.url}/auth/sign-out", {})
    told = await trail(auth)
    assert [(one["event"], one.get("session"), one.get("token")) for one in told] == [
        ("signed-in", None, None),
        ("token-created", session, found[1].id),
        ("token-revoked", session, found[1].id),
        ("signed-out", session, None),
    ]
    assert {one["email"] for one in told} == {"ada@strad.test"}
    assert text not in str(told)
    assert cookie not in str(told)


async def test_a_person_whom_a_rule_refuses_is_told_and_a_strangers_noise_is_not(
    start_both: StartAuth,
) -> None:
    allow = {"allow": {"people": ["ada@strad.test"]}}
    auth = await start_both(provider=allow)
    browser = auth.browser()
    await browser.get(f"{auth.url}/auth/callback?state=made-up&code=made-up", "cross-site")
    assert await trail(auth) == []
    assert (await auth.sign_in(browser, CHARLES)).status == 403
    (one,) = await trail(auth)
    assert (one["event"], one["decision"], one["reason"], one["email"]) == (
        "sign-in-denied",
        "denied",
        "not-allowed",
        "charles@strad.test",
    )


async def test_who_may_not_sign_in_cannot_fill_the_trail_by_trying(start_both: StartAuth) -> None:
    """Anybody with an account at the provider could push everything else out of it."""
    auth = await start_both(provider={"allow": {"people": ["eve@strad.test"]}})
    auth.clock.now = (auth.clock.now // 3600 + 1) * 3600
    for _ in range(3):
        assert (await auth.sign_in(auth.browser(), CHARLES)).status == 403
        assert (await auth.sign_in(auth.browser())).status == 403
    told = [(one["email"], one["reason"]) for one in await trail(auth)]
    assert told == [("charles@strad.test", "not-allowed"), ("ada@strad.test", "not-allowed")]
    auth.clock.now += 3600
    assert (await auth.sign_in(auth.browser(), CHARLES)).status == 403
    assert len(await trail(auth)) == 3


async def test_nothing_takes_effect_that_could_not_be_told(
    start_both: StartAuth, clock: Clock
) -> None:
    store = Unwritten(clock)
    auth = await start_both(store=store)
    browser = await auth.signed_in()
    token = await make(auth, browser)
    found = await reader(auth).verify(token)
    assert found is not None
    store.away = True
    other = auth.browser()
    assert (await auth.sign_in(other)).status == 503
    assert not await auth.has_session(other)
    assert (await create(auth, browser, {"label": "Second", "life": "86400"})).status == 503
    revoke = f"{auth.url}/auth/tokens/{found[1].id}/revoke"
    assert (await browser.post(revoke, {})).status == 503
    assert await reader(auth).verify(token) is not None
    assert (await browser.post(f"{auth.url}/auth/sign-out", {})).status == 503
    assert await auth.has_session(browser)
    store.away = False
    assert (await browser.post(revoke, {})).status == 303
    assert await reader(auth).verify(token) is None
