"""What is kept of a provider: fetched once, for all who wait, and through its bad moments."""

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack

import pytest
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import RSAKey

from services.auth.id_token import Expected, verified_claims
from services.auth.provider import Provider
from services.auth.refusals import Reason, Refused
from tests.auth.bench import WELL_KNOWN, Bench
from tests.auth.conftest import Clock, StartAuth, StartBoth, free_socket


async def refusal(asking: Awaitable[object]) -> Reason:
    with pytest.raises(Refused) as refused:
        await asking
    return refused.value.reason


async def test_nothing_is_fetched_twice_in_an_hour(
    provider: Provider, bench: Bench, clock: Clock
) -> None:
    for _ in range(3):
        await provider.metadata()
        await provider.keys()
    clock.now += 3599
    await provider.keys()
    assert bench.asked == {WELL_KNOWN: 1, "/jwks_uri": 1}
    clock.now += 2
    await provider.keys()
    assert bench.asked == {WELL_KNOWN: 2, "/jwks_uri": 2}


async def test_a_hundred_who_wait_cause_one_request(provider: Provider, bench: Bench) -> None:
    await asyncio.gather(*(provider.keys() for _ in range(100)))
    assert bench.asked == {WELL_KNOWN: 1, "/jwks_uri": 1}


async def test_a_thousand_unknown_keys_cause_one_refetch_a_minute(
    provider: Provider, bench: Bench, clock: Clock
) -> None:
    stranger = RSAKey.generate_key(2048, {"kid": "unknown"})
    text = jwt.encode({"alg": "RS256", "kid": "unknown"}, {}, stranger, algorithms=["RS256"])
    expected = Expected((bench.issuer,), "strad", "n", "a", ("RS256",))
    await provider.keys()
    before = bench.asked["/jwks_uri"]
    for _ in range(10):
        asking = [verified_claims(text, provider, expected, clock()) for _ in range(100)]
        answers = await asyncio.gather(*asking, return_exceptions=True)
        reasons = {answer.reason for answer in answers if isinstance(answer, Refused)}
        assert reasons == {Reason.TOKEN_KEY}
    assert bench.asked["/jwks_uri"] == before + 1
    clock.now += 61
    await refusal(verified_claims(text, provider, expected, clock()))
    assert bench.asked["/jwks_uri"] == before + 2


async def test_who_holds_old_keys_gets_the_ones_that_another_has_fetched(
    provider: Provider, bench: Bench, clock: Clock
) -> None:
    old = await provider.keys()
    new = await provider.newer_keys(old)
    asked = bench.asked["/jwks_uri"]
    clock.now += 61
    assert await provider.newer_keys(old) is new
    assert bench.asked["/jwks_uri"] == asked


async def test_old_keys_are_kept_when_the_provider_fails(
    provider: Provider, bench: Bench, clock: Clock
) -> None:
    keys = await provider.keys()
    bench.json("/jwks_uri", {}, status=503)
    assert await provider.newer_keys(keys) is keys
    clock.now += 12 * 3600
    assert await provider.keys() is keys
    clock.now += 13 * 3600
    assert await refusal(provider.keys()) is Reason.PROVIDER_DOWN


async def test_a_provider_that_fails_is_asked_again_after_a_pause(
    provider: Provider, bench: Bench, clock: Clock
) -> None:
    bench.json(WELL_KNOWN, {}, status=500)
    for _ in range(20):
        assert await refusal(provider.metadata()) is Reason.PROVIDER_DOWN
    assert bench.asked[WELL_KNOWN] == 1
    bench.well()
    clock.now += 2
    assert (await provider.metadata()).issuer == bench.issuer


async def test_auth_starts_without_the_provider_and_finds_it_later(
    start_auth: StartAuth, clock: Clock
) -> None:
    stand = Bench()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", stand.answer)
    sock, port = free_socket()
    sock.close()  # nobody listens there yet
    stand.issuer = f"http://127.0.0.1:{port}"
    stand.well()
    auth = await start_auth(stand.issuer)
    browser = auth.browser()
    assert (await browser.get(f"{auth.url}/auth/sign-in")).status == 200
    page = await browser.get(f"{auth.url}/auth/start?return_to=/apps/toys")
    assert page.status == 503
    assert "The sign-in provider does not answer." in page.text
    assert not page.cookies
    clock.now += 2
    async with AsyncExitStack() as stack:
        runner = web.AppRunner(app)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", port).start()
        again = await browser.get(page.link("Start again"), "same-origin")
        assert again.status == 303
        assert again.location.startswith(f"{stand.issuer}/authorization_endpoint?")


async def test_a_rotated_key_is_found_with_one_refetch(start_both: StartBoth) -> None:
    auth = await start_both()
    await auth.signed_in()
    assert auth.keys is not None
    auth.keys.rotate()
    await auth.signed_in()
    auth.keys.rotate()  # twice within a minute: the second one waits for its turn
    page = await auth.sign_in(auth.browser())
    assert "Reason: <code>token-key</code>" in page.text
    auth.clock.now += 60
    await auth.signed_in()
