"""What a thief or another client could try with codes and tokens of OAuth."""

import asyncio
import json
import re

import pytest

from shared import keys
from shared.stores.memory import MemoryKeyValue
from shared.stores.tokens import TokenReader
from tests.auth.browser import Browser
from tests.auth.conftest import Auth, StartBoth
from tests.auth.oauth_client import OAuthClient


@pytest.fixture
async def browser(auth: Auth) -> Browser:
    return await auth.signed_in()


@pytest.fixture
async def client(auth: Auth) -> OAuthClient:
    """A client that has registered."""
    made = OAuthClient(auth)
    assert (await made.register()).status == 201
    return made


async def live(auth: Auth, token: str) -> bool:
    """Whether the relay would take this token."""
    return await TokenReader(auth.store, auth.seal, auth.clock).verify(token) is not None


async def test_a_code_that_comes_twice_ends_what_it_has_given(
    auth: Auth, browser: Browser, client: OAuthClient
) -> None:
    code = await client.code(browser)
    first = (await client.redeem(code)).body
    second = (await client.refresh(first["refresh_token"])).body
    assert await live(auth, second["access_token"])
    replay = await client.redeem(code)
    assert (replay.status, replay.body["error"]) == (400, "invalid_grant")
    for got in (first, second):
        assert not await live(auth, got["access_token"])
        assert (await client.refresh(got["refresh_token"])).body["error"] == "invalid_grant"


async def test_of_two_who_bring_a_code_at_once_at_most_one_gets_tokens(
    auth: Auth, browser: Browser, client: OAuthClient
) -> None:
    code = await client.code(browser)
    got = await asyncio.gather(*(client.redeem(code) for _ in range(4)))
    assert sum(one.status == 200 for one in got) <= 1
    for one in got:
        if one.status == 200:
            assert not await live(auth, one.body["access_token"])


async def test_a_code_is_good_for_a_minute(
    auth: Auth, browser: Browser, client: OAuthClient
) -> None:
    code = await client.code(browser)
    auth.clock.now += 61
    assert (await client.redeem(code)).body["error"] == "invalid_grant"


async def test_a_code_of_another_client_is_refused_and_stays_good_for_its_own(
    auth: Auth, browser: Browser, client: OAuthClient
) -> None:
    other = OAuthClient(auth, verifier=client.verifier)
    await other.register()
    code = await client.code(browser)
    assert (await other.redeem(code)).body["error"] == "invalid_grant"
    assert (await other.redeem(code, client_id="https://x.test/client")).status == 400
    assert (await client.redeem(code)).status == 200


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": "A" * 43}, "invalid_grant"),
        ({"code_verifier": "short"}, "invalid_request"),
        ({"redirect_uri": "http://127.0.0.1:49152/other"}, "invalid_grant"),
        ({"redirect_uri": "http://127.0.0.1:1/callback"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"resource": None}, "invalid_target"),
        ({"resource": "https://other.test/mcp"}, "invalid_target"),
        ({"code": "x"}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"client_id": None}, "invalid_client"),
        ({"client_id": "nobody-at-all-registered"}, "invalid_client"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": None}, "unsupported_grant_type"),
        ({"client_secret": "x"}, "invalid_client"),
        ({"state": "\x00", "code": '"\\'}, "invalid_request"),
    ],
)
async def test_a_code_needs_everything_that_it_is_bound_to(
    browser: Browser, client: OAuthClient, changes: dict[str, str | None], error: str
) -> None:
    code = await client.code(browser)
    got = await client.redeem(code, **changes)
    assert (got.status, got.body["error"]) == (400, error)
    assert "access_token" not in got.body
    assert (await client.redeem(code)).status == 200


async def test_a_refresh_token_that_comes_twice_ends_its_family(
    auth: Auth, client: OAuthClient, browser: Browser
) -> None:
    first = await client.connected(browser)
    other = await client.connected(browser)
    second = (await client.refresh(first["refresh_token"])).body
    third = (await client.refresh(second["refresh_token"])).body
    assert await live(auth, third["access_token"])
    again = await client.refresh(first["refresh_token"])
    assert (again.status, again.body["error"]) == (400, "invalid_grant")
    for got in (first, second, third):
        assert not await live(auth, got["access_token"])
        assert (await client.refresh(got["refresh_token"])).body["error"] == "invalid_grant"
    assert await live(auth, other["access_token"])


async def test_a_refresh_token_of_another_client_or_audience_is_refused_and_stays_good(
    auth: Auth, client: OAuthClient, browser: Browser
) -> None:
    other = OAuthClient(auth)
    await other.register()
    token = (await client.connected(browser))["refresh_token"]
    assert (await other.refresh(token)).body["error"] == "invalid_grant"
    assert (await client.refresh(token, resource="https://x.test")).body[
        "error"
    ] == "invalid_target"
    assert (await client.refresh(token, resource=None)).body["error"] == "invalid_target"
    assert (await client.refresh(token)).status == 200


async def test_a_refresh_asks_for_no_more_than_was_allowed(
    client: OAuthClient, browser: Browser
) -> None:
    token = (await client.connected(browser, ["news"]))["refresh_token"]
    for scope in ("mcp", "mcp:toys", "mcp:news mcp:toys", "x"):
        assert (await client.refresh(token, scope=scope)).body["error"] == "invalid_scope"
    assert (await client.refresh(token, scope="mcp:news")).status == 200


async def test_another_client_cannot_give_back_what_is_not_its_own(
    auth: Auth, client: OAuthClient, browser: Browser
) -> None:
    other = OAuthClient(auth)
    await other.register()
    got = await client.connected(browser)
    await client.post("/oauth/revoke", {"token": got["refresh_token"], "client_id": other.id})
    assert await live(auth, got["access_token"])


async def test_an_ending_and_a_refresh_at_the_same_time_leave_nothing_alive(
    start_both: StartBoth,
) -> None:
    class Slow(MemoryKeyValue):
        """Others come in between every two steps."""

        async def put(self, key: str, value: bytes, seconds: int) -> None:
            await asyncio.sleep(0)
            await super().put(key, value, seconds)

        async def get(self, key: str) -> bytes | None:
            await asyncio.sleep(0)
            return await super().get(key)

    auth = await start_both(store=Slow())
    browser, client = await auth.signed_in(), OAuthClient(auth)
    for _ in range(10):
        token = (await client.connected(browser))["refresh_token"]
        page = await browser.get(f"{auth.url}/auth/clients")
        (action,) = re.findall(r'action="(/auth/clients/[^"]+/end)"', page.text)
        refreshed, _ = await asyncio.gather(
            client.refresh(token), browser.post(auth.url + action, {})
        )
        if refreshed.status == 200:
            assert not await live(auth, refreshed.body["access_token"])
            token = refreshed.body["refresh_token"]
        assert (await client.refresh(token)).status == 400


async def test_a_writer_of_the_store_cannot_mint_or_widen_what_a_client_may(
    auth: Auth, browser: Browser, client: OAuthClient
) -> None:
    one = await client.connected(browser, ["news"])
    reader = TokenReader(auth.store, auth.seal, auth.clock)
    digest = reader.digest(one["access_token"])
    kept = await auth.store.get(keys.TOKEN.key(digest))
    assert kept is not None
    other = reader.digest("strad_oat_" + "x" * 49)
    for value in (kept[:-1] + b"x", json.dumps({"servers": None}).encode(), b""):
        await auth.store.put(keys.TOKEN.key(digest), value, 60)
        assert not await live(auth, one["access_token"])
    await auth.store.put(keys.TOKEN.key(other), kept, 60)
    assert await reader.find(other) is None
