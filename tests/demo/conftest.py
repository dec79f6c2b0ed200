"""A provider on a free loopback port, and a client that signs in at it as auth does."""

import hashlib
import secrets
import socket
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientResponse, ClientSession, DummyCookieJar, web

from demo.provider.app import create_app
from demo.provider.keys import Keys
from demo.provider.settings import Settings

REDIRECT = "http://127.0.0.1:8080/auth/callback"


class Clock:
    """Seconds since 1970 that a test can move."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class SignIn:
    """One browser and one client at a provider."""

    issuer: str
    http: ClientSession
    clock: Clock
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    def request(self, **changes: str | None) -> dict[str, str]:
        """A right authorization request; None leaves a parameter out."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        right = {
            "client_id": "strad-demo",
            "redirect_uri": REDIRECT,
            "response_type": "code",
            "scope": "openid email profile",
            "state": self.state,
            "nonce": self.nonce,
            "code_challenge": urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in (right | changes).items() if value is not None}

    async def show(self, **changes: str | None) -> ClientResponse:
        query = self.request(**changes)
        return await self.http.get(f"{self.issuer}/authorize", params=query, allow_redirects=False)

    async def press(self, button: dict[str, str], **headers: str) -> ClientResponse:
        return await self.http.post(
            f"{self.issuer}/authorize",
            params=self.request(),
            data=button,
            headers=headers,
            allow_redirects=False,
        )

    async def code(self, person: str = "demo-ada") -> str:
        return answer(await self.press({"person": person}))["code"]

    async def exchange(self, code: str, **changes: str | None) -> ClientResponse:
        right = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": REDIRECT,
            "client_id": "strad-demo",
            "client_secret": "demo-secret",
            "code_verifier": self.verifier,
        }
        form = {name: value for name, value in (right | changes).items() if value is not None}
        return await self.http.post(f"{self.issuer}/token", data=form)

    async def tokens(self) -> dict[str, Any]:
        response = await self.exchange(await self.code())
        assert response.status == 200, await response.text()
        return dict(await response.json())

    async def get(self, path: str, **headers: str) -> ClientResponse:
        return await self.http.get(self.issuer + path, headers=headers)

    async def break_it(self, **switches: Any) -> None:
        response = await self.http.post(f"{self.issuer}/faults", json=switches)
        assert response.status == 200, await response.text()


def answer(response: ClientResponse) -> dict[str, str]:
    """The parameters of the redirect back to the client, and that it goes there."""
    assert response.status == 303
    location = response.headers["Location"]
    assert location.startswith(f"{REDIRECT}?")
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


@pytest.fixture(scope="session")
def provider_keys() -> Keys:
    return Keys()


StartProvider = Callable[..., Awaitable[SignIn]]


@asynccontextmanager
async def starting(provider_keys: Keys) -> AsyncIterator[StartProvider]:
    """Starts a provider with other settings than the usual ones."""
    runners: list[web.AppRunner] = []
    async with ClientSession(cookie_jar=DummyCookieJar()) as http:

        async def start(**changes: Any) -> SignIn:
            sock = socket.create_server(("127.0.0.1", 0))
            port = sock.getsockname()[1]
            issuer = f"http://127.0.0.1:{port}"
            base: dict[str, Any] = {
                "host": "127.0.0.1",
                "port": port,
                "issuer": issuer,
                "client_id": "strad-demo",
                "client_secret": "demo-secret",
                "redirect_uri": REDIRECT,
                "faults": True,
            }
            clock = Clock()
            keys = changes.pop("keys", provider_keys)
            app = create_app(Settings(**(base | changes)), keys, clock)
            runner = web.AppRunner(app, access_log=None)
            runners.append(runner)
            await runner.setup()
            await web.SockSite(runner, sock).start()
            return SignIn(issuer, http, clock)

        yield start
        for runner in runners:
            await runner.cleanup()


@pytest.fixture
async def start_provider(provider_keys: Keys) -> AsyncIterator[StartProvider]:
    """`starting` for one test."""
    async with starting(provider_keys) as start:
        yield start


@pytest.fixture
async def sign_in(start_provider: StartProvider) -> SignIn:
    return await start_provider()
