"""Real sockets for the demo MCP servers: the server on uvicorn, the relay's keys on aiohttp."""

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

import httpx2
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import OKPKey
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

from demo.serve import Address, bind
from tests.asgi import serving

Era = Literal["legacy", "2026-07-28"]
ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")
STRAD = "http://127.0.0.1:8080"


def new_key(kid: str = "relay-1") -> OKPKey:
    return OKPKey.generate_key("Ed25519", {"use": "sig", "kid": kid}, private=True)


@dataclass
class Relay:
    """The relay's half of a signed identity: keys at an address, and tokens."""

    keys: list[OKPKey] = field(default_factory=lambda: [new_key()])
    url: str = ""
    asked: int = 0
    status: int = 200

    async def jwks(self, _request: web.Request) -> web.Response:
        self.asked += 1
        published = [key.as_dict(private=False) for key in self.keys]
        return web.json_response({"keys": published}, status=self.status)

    def identity(self, audience: str, *, key: OKPKey | None = None, **changes: Any) -> str:
        """A right token for `audience`; a change to None leaves a claim out."""
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": STRAD,
            "sub": "person-1",
            "email": "ada@strad.test",
            "aud": audience,
            "iat": now,
            "exp": now + 60,
            "jti": uuid4().hex,
        }
        claims = {name: value for name, value in (claims | changes).items() if value is not None}
        signer = key or self.keys[0]
        header = {"alg": "Ed25519", "kid": signer.kid, "typ": "JWT"}
        return jwt.encode(header, claims, signer, algorithms=["Ed25519"])


@contextlib.asynccontextmanager
async def relay() -> AsyncIterator[Relay]:
    made = Relay()
    app = web.Application()
    app.router.add_get("/jwks", made.jwks)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}/jwks"
    try:
        yield made
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def listening(create_app: Callable[[Address], ASGIApp]) -> AsyncIterator[str]:
    """The URL of a server that runs on a free port until the block ends."""
    sock, address = bind({})
    async with serving(create_app(address), sock):
        yield address.self_url


@contextlib.asynccontextmanager
async def client(url: str, era: Era, **headers: str) -> AsyncIterator[Client]:
    """The SDK's client, speaking one era, sending these headers."""
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as connected,
    ):
        yield connected


async def text_of(connected: Client, tool: str, **arguments: Any) -> tuple[bool, str]:
    """Whether the tool called it an error, and its first text."""
    result = await connected.call_tool(tool, arguments)
    return bool(result.is_error), str(getattr(result.content[0], "text", ""))
