"""What a provider says of itself, and answers that are none."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from joserfc.jwk import ECKey, OctKey, RSAKey

from services.auth.back_channel import MAX_BYTES
from services.auth.provider import Provider, read_keys, read_metadata
from services.auth.refusals import Reason, Refused
from tests.auth.bench import RSA, WELL_KNOWN, Bench

ISSUER = "https://id.example.com"
DOCUMENT: dict[str, Any] = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": "https://keys.example.net/jwks",
}
# packed beforehand: an answer has one second
BOMB = gzip.compress(b'{"a":"' + b"x" * 50 * MAX_BYTES + b'"}')


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
    return web.Response(body=BOMB, headers={"Content-Encoding": "gzip"})


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
    with pytest.raises(Refused) as refused:
        await provider.keys()
    assert refused.value.reason is reason
    assert (answer in {_huge, _bomb}) == refused.value.detail.startswith("an answer of more than")


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


@pytest.mark.parametrize(
    ("known", "prompt"),
    [
        (None, "select_account"),
        (["none", "login", "select_account"], "select_account"),
        (["none", "login", "consent"], "login"),
        (["none"], ""),
        ("select_account", ""),
    ],
)
def test_an_account_is_chosen_in_a_way_that_the_provider_knows(known: object, prompt: str) -> None:
    document = DOCUMENT if known is None else DOCUMENT | {"prompt_values_supported": known}
    assert read_metadata(ISSUER, document).choosing == prompt


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
                {"kty": "EC", "crv": "P-256", "x": "!", "y": "!"},
                {"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA"},
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
