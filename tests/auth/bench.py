"""A provider whose every answer a test chooses."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from joserfc.jwk import RSAKey

RSA = RSAKey.generate_key(2048, {"use": "sig", "alg": "RS256"}, auto_kid=True)
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
