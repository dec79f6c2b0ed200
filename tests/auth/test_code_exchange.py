"""The exchange of a code: how the client proves itself, and answers that are no tokens."""

from base64 import b64decode
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs

import aiohttp
import pytest
from aiohttp import web

from services.auth.attempts import Attempt
from services.auth.back_channel import BackChannel
from services.auth.code_exchange import Client, Tokens, redeem
from services.auth.provider import Metadata
from services.auth.refusals import Reason, Refused
from shared import egress
from tests.auth.conftest import Auth, StartAuth, free_socket, serving

CLIENT = Client("id with & and :", "s3cr3t/+ü", ("openid",), "https://strad.test/auth/callback")
ATTEMPT = Attempt(state="s", nonce="n", verifier="v" * 43, issuer="i", return_to="/", trusted=False)
GOOD = {"id_token": "a.b.c", "access_token": "x", "token_type": "Bearer"}


class Endpoint:
    """A token endpoint: keeps what it was sent and answers what it is told."""

    def __init__(self) -> None:
        self.form: dict[str, list[str]] = {}
        self.authorization: str | None = None
        self.status, self.answer = 200, dict[str, Any](GOOD)
        self.redirect = ""

    async def post(self, request: web.Request) -> web.Response:
        self.form = parse_qs(await request.text())
        self.authorization = request.headers.get("Authorization")
        if self.redirect:
            return web.Response(status=307, headers={"Location": self.redirect})
        return web.json_response(self.answer, status=self.status)


@pytest.fixture
async def endpoint() -> AsyncIterator[tuple[Endpoint, str]]:
    made = Endpoint()
    app = web.Application()
    app.router.add_post("/token", made.post)
    sock, port = free_socket()
    async with serving(app, sock):
        yield made, f"http://127.0.0.1:{port}/token"


async def ask(url: str, *, posts_secret: bool = False) -> Tokens:
    metadata = Metadata("i", "https://a", url, "https://j", ("RS256",), posts_secret, False)
    async with egress.client(aiohttp.ClientTimeout(total=2)) as http:
        return await redeem("the code", ATTEMPT, CLIENT, metadata, BackChannel(http))


async def test_the_code_goes_with_its_verifier_and_the_registered_address(
    endpoint: tuple[Endpoint, str],
) -> None:
    made, url = endpoint
    assert await ask(url) == Tokens("a.b.c", "x")
    assert made.form == {
        "grant_type": ["authorization_code"],
        "code": ["the code"],
        "redirect_uri": ["https://strad.test/auth/callback"],
        "code_verifier": ["v" * 43],
    }


async def test_the_secret_goes_in_the_header_encoded_twice(endpoint: tuple[Endpoint, str]) -> None:
    made, url = endpoint
    await ask(url)
    assert made.authorization is not None
    plain = b64decode(made.authorization.removeprefix("Basic ")).decode()
    assert plain == "id+with+%26+and+%3A:s3cr3t%2F%2B%C3%BC"


async def test_or_in_the_form_and_then_in_no_header(endpoint: tuple[Endpoint, str]) -> None:
    made, url = endpoint
    await ask(url, posts_secret=True)
    assert made.authorization is None
    assert made.form["client_id"] == [CLIENT.client_id]
    assert made.form["client_secret"] == [CLIENT.secret]


@pytest.mark.parametrize(
    "changes",
    [
        {"id_token": None},
        {"id_token": 5},
        {"id_token": ["a.b.c"]},
        {"access_token": None},
        {"access_token": ""},  # nothing to compare at_hash with
        {"access_token": {"a": 1}},
    ],
)
async def test_an_answer_without_the_two_tokens_is_refused(
    endpoint: tuple[Endpoint, str], changes: dict[str, Any]
) -> None:
    made, url = endpoint
    made.answer |= changes
    with pytest.raises(Refused) as refused:
        await ask(url)
    assert refused.value.reason is Reason.PROVIDER_UNUSABLE


@pytest.mark.parametrize(
    ("status", "answer", "reason"),
    [
        (400, {"error": "invalid_grant"}, Reason.CODE_REFUSED),
        (400, {}, Reason.CODE_REFUSED),
        (400, GOOD, Reason.CODE_REFUSED),  # tokens in a refusal are not taken
        (401, {"error": "invalid_client"}, Reason.CLIENT_REFUSED),
        (403, {"error": ["invalid_client"]}, Reason.CODE_REFUSED),
        (429, {}, Reason.PROVIDER_DOWN),
        (500, GOOD, Reason.PROVIDER_DOWN),
        (201, GOOD, Reason.PROVIDER_DOWN),
    ],
)
async def test_any_other_status_is_no_answer(
    endpoint: tuple[Endpoint, str], status: int, answer: dict[str, Any], reason: Reason
) -> None:
    made, url = endpoint
    made.status, made.answer = status, answer
    with pytest.raises(Refused) as refused:
        await ask(url)
    assert refused.value.reason is reason


async def test_the_secret_follows_no_redirect(endpoint: tuple[Endpoint, str]) -> None:
    made, url = endpoint
    thief = Endpoint()
    app = web.Application()
    app.router.add_post("/token", thief.post)
    sock, port = free_socket()
    made.redirect = f"http://127.0.0.1:{port}/token"
    async with serving(app, sock):
        with pytest.raises(Refused) as refused:
            await ask(url, posts_secret=True)
    assert refused.value.reason is Reason.PROVIDER_DOWN
    assert thief.form == {}


async def test_an_answer_to_a_provider_that_is_no_longer_configured_is_refused(
    auth: Auth, start_auth: StartAuth
) -> None:
    browser = auth.browser()
    answer = await auth.choose(browser, await auth.start(browser))
    changed = await start_auth("https://another.test", store=auth.store)
    cookies = "; ".join(f"{k}={v}" for k, v in next(iter(browser.cookies.values())).items())
    page = await changed.browser().get(
        answer.replace(auth.url, changed.url), "cross-site", Cookie=cookies
    )
    assert page.status == 400
    assert "Reason: <code>state-mismatch</code>" in page.text
