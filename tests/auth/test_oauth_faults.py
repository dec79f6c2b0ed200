"""OAuth while Redis is away, after the public address has changed, and for who may not sign in."""

from pathlib import Path

from shared.stores.kv import StoreUnavailable
from shared.stores.memory import MemoryKeyValue
from tests.auth.conftest import StartBoth
from tests.auth.oauth_client import OAuthClient
from tests.auth.test_admission import allow, eventually


async def test_while_redis_is_away_nobody_gets_a_token_and_nobody_is_disconnected(
    start_both: StartBoth,
) -> None:
    class Sometimes(MemoryKeyValue):
        away = False

        async def get(self, key: str) -> bytes | None:
            if self.away:
                raise StoreUnavailable("away")
            return await super().get(key)

    store = Sometimes()
    auth = await start_both(store=store)
    browser, client = await auth.signed_in(), OAuthClient(auth)
    token = (await client.connected(browser))["refresh_token"]
    code = await client.code(browser)
    store.away = True
    assert (await client.refresh(token)).status == 503
    assert (await client.redeem(code)).status == 503
    assert (
        await client.post("/oauth/revoke", {"token": token, "client_id": client.id})
    ).status == 503
    store.away = False
    assert (await client.refresh(token)).status == 200
    assert (await client.redeem(code)).status == 200


async def test_what_was_made_under_another_public_address_is_for_another_audience(
    start_both: StartBoth,
) -> None:
    store = MemoryKeyValue()
    before, after = await start_both(store=store), await start_both(store=store)
    browser, client = await before.signed_in(), OAuthClient(before)
    token = (await client.connected(browser))["refresh_token"]
    code = await client.code(browser)
    moved = OAuthClient(after, id=client.id, verifier=client.verifier)
    assert (await moved.refresh(token)).body["error"] == "invalid_grant"
    assert (await moved.redeem(code)).body["error"] == "invalid_grant"
    assert (await client.refresh(token)).status == 200
    assert (await client.redeem(code)).status == 200


async def test_a_client_of_somebody_who_may_not_sign_in_any_more_gets_nothing_new(
    start_both: StartBoth, tmp_path: Path
) -> None:
    path = tmp_path / "strad.yaml"
    auth = await start_both(config_path=path)
    ada, charles = OAuthClient(auth), OAuthClient(auth)
    token = (await ada.connected(await auth.signed_in()))["refresh_token"]
    his = (await charles.connected(await auth.signed_in("demo-charles")))["refresh_token"]
    browser = await auth.signed_in()
    allow(path, auth, people=["charles@strad.test"])

    async def out() -> bool:
        return (await browser.get(f"{auth.url}/auth/clients")).status == 303

    await eventually(out)
    assert (await ada.refresh(token)).body["error"] == "invalid_grant"
    assert (await charles.refresh(his)).status == 200
