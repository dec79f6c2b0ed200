"""The provider behind its address: how it is found, what is kept, and how it may disappoint."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

from services.auth.back_channel import MAX_BYTES, BackChannel
from services.auth.id_token import Expected, verified_claims
from services.auth.provider import Provider, read_keys, read_metadata
from services.auth.refusals import Reason, Refused
from shared import egress
from tests.auth.conftest import Clock, StartAuth, StartBoth, free_socket, serving

RSA = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
ISSUER = "https://id.example.com"
DOCUMENT: dict[str, Any] = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": "https://keys.example.net/jwks",
}
WELL_KNOWN = "/.well-known/openid-configuration"


class Bench:
    """A provider whose answers a test chooses, with a count of what was asked."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}
        self.answers: dict[str, Callable[[], Awaitable[web.StreamResponse]]] = {}
        self.issuer = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked[request.path] = self.asked.get(request.path, 0) + 1
        return await self.answers[request.path]()

    def json(self, path: str, body: Any, status: int = 200) -> None:
        async def answer() -> web.StreamResponse:
            return web.json_response(body, status=status)

        self.answers[path] = answer

    def well(self) -> None:
        """Answer as a good provider does."""
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        document = {name: f"{self.issuer}/{name}" for name in names}
        self.json(WELL_KNOWN, document | {"issuer": self.issuer})
        self.json("/jwks_uri", {"keys": [RSA.as_dict(private=False)]})


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A bench on a loopback port."""
    stand = Bench()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", stand.answer)
    sock, port = free_socket()
    stand.issuer = f"http://127.0.0.1:{port}"
    async with serving(app, sock):
        stand.well()
        yield stand


@pytest.fixture
async def provider(bench: Bench, clock: Clock) -> AsyncIterator[Provider]:
    """What auth uses, in front of the bench."""
    async with egress.client(aiohttp.ClientTimeout(total=1)) as http:
        yield Provider(bench.issuer, BackChannel(http), clock)


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


async def _redirect() -> web.StreamResponse:
    raise web.HTTPFound("http://127.0.0.1:9/elsewhere")


async def _huge() -> web.StreamResponse:
    return web.Response(body=b'{"a":"' + b"x" * MAX_BYTES + b'"}')


async def _deep() -> web.StreamResponse:
    return web.Response(body=b'{"a":' + b"[" * 100_000)


async def _cut() -> web.StreamResponse:
    return web.Response(body=b'{"issuer": ')


async def _list() -> web.StreamResponse:
    return web.json_response([])


async def _bytes() -> web.StreamResponse:
    return web.Response(body=b"\xff\xfe\x00")


async def _bomb() -> web.StreamResponse:
    answer = web.Response(body=b'{"a":"' + b"x" * 50 * MAX_BYTES + b'"}')
    answer.enable_compression(web.ContentCoding.gzip)
    return answer


async def _hang() -> web.StreamResponse:
    await asyncio.sleep(30)
    return web.Response()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (_redirect, Reason.PROVIDER_DOWN),
        (_huge, Reason.PROVIDER_UNUSABLE),
        (_bomb, Reason.PROVIDER_UNUSABLE),
        (_deep, Reason.PROVIDER_UNUSABLE),
        (_cut, Reason.PROVIDER_UNUSABLE),
        (_list, Reason.PROVIDER_UNUSABLE),
        (_bytes, Reason.PROVIDER_UNUSABLE),
        (_hang, Reason.PROVIDER_DOWN),
    ],
)
@pytest.mark.parametrize("path", [WELL_KNOWN, "/jwks_uri"])
async def test_an_answer_that_is_none_is_refused(
    provider: Provider,
    bench: Bench,
    path: str,
    answer: Callable[[], Awaitable[web.StreamResponse]],
    reason: Reason,
) -> None:
    bench.answers[path] = answer
    assert await refusal(provider.keys()) is reason


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "https://evil.test"},
        {"issuer": f"{ISSUER}/"},
        {"issuer": None},
        {"issuer": [ISSUER]},
        {"jwks_uri": None},
        {"jwks_uri": "http://keys.example.net/jwks"},
        {"jwks_uri": "http://127.0.0.1/jwks"},  # the issuer is not on this machine
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "https://"},
        {"jwks_uri": "https://user@keys.example.net/"},
        {"jwks_uri": "https://[bad/"},
        {"token_endpoint": "javascript:alert(1)"},
        {"token_endpoint": 7},
        {"authorization_endpoint": "/authorize"},
        {"authorization_endpoint": f"{ISSUER}/authorize#x"},
        {"id_token_signing_alg_values_supported": ["none", "HS256"]},
        {"id_token_signing_alg_values_supported": []},
        {"id_token_signing_alg_values_supported": "RS256"},
        {"token_endpoint_auth_methods_supported": ["private_key_jwt"]},
        {"token_endpoint_auth_methods_supported": ["none"]},
    ],
)
def test_a_description_that_cannot_be_right_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        read_metadata(ISSUER, DOCUMENT | changes)
    assert refused.value.reason is Reason.PROVIDER_UNUSABLE
    assert refused.value.detail


def test_a_short_description_gets_the_defaults_of_the_standard() -> None:
    metadata = read_metadata(ISSUER, DOCUMENT)
    assert metadata.algorithms == ("RS256",)
    assert metadata.posts_secret is False
    assert metadata.names_itself is False


def test_a_secret_is_posted_only_where_a_header_is_not_taken() -> None:
    both = {"token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"]}
    post = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert read_metadata(ISSUER, DOCUMENT | both).posts_secret is False
    assert read_metadata(ISSUER, DOCUMENT | post).posts_secret is True


def test_an_endpoint_may_have_a_query_of_its_own() -> None:
    odd = {"authorization_endpoint": f"{ISSUER}/authorize?tenant=1"}
    url = read_metadata(ISSUER, DOCUMENT | odd).authorization_url({"state": "a b"})
    assert url == f"{ISSUER}/authorize?tenant=1&state=a+b"


def test_only_keys_that_check_signatures_are_taken() -> None:
    good = RSA.as_dict(private=False)
    weak = RSAKey.generate_key(2048).as_dict(private=False) | {"n": "sXch", "kid": "weak"}
    found = read_keys(
        {
            "keys": [
                good,
                good | {"use": "enc", "kid": "enc"},
                OctKey.generate_key(256).as_dict(private=True) | {"kid": "oct"},
                {"kty": "ML-DSA", "kid": "new"},
                {"kty": "RSA"},
                weak,
                "text",
                None,
                ECKey.generate_key("P-256", {"kid": "ec"}).as_dict(private=False),
            ]
        }
    )
    assert [key.kid for key in found.keys] == [RSA.kid, "ec"]


@pytest.mark.parametrize("document", [{}, {"keys": None}, {"keys": {}}, {"keys": "x"}])
def test_a_key_set_without_a_list_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        read_keys(document)


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
