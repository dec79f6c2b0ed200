"""Who calls `/mcp`: one bearer token, in the header and nowhere else (RFC 6750, RFC 9728)."""

import contextlib

from aiohttp import web

from shared import keys
from shared.clock import Clock
from shared.contracts.identity import Principal, Token
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import MCP_PATH, RESOURCE_METADATA_PATH, TOKENS_PATH
from shared.stores.kv import KeyValue, StoreUnavailable
from shared.stores.tokens import TokenReader
from shared.web.routes import Access, Identify, route_of

SEEN_EVERY_SECONDS = 60


class TokenSeen:
    """Notes when a token was last used, at most once a minute; a note that fails is left out."""

    def __init__(self, store: KeyValue, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: dict[str, float] = {}

    async def note(self, digest: str, token: Token) -> None:
        """The token was used now."""
        now = self._clock()
        if now - self._noted.get(digest, 0.0) < SEEN_EVERY_SECONDS:
            return
        self._noted = {d: t for d, t in self._noted.items() if now - t < SEEN_EVERY_SECONDS}
        self._noted[digest] = now
        seconds = max(1, token.expires - int(now))
        with contextlib.suppress(StoreUnavailable):
            key = keys.TOKEN_SEEN.key(digest)
            await self._store.put(key, str(int(now)).encode(), seconds)


def by_token(tokens: TokenReader, seen: TokenSeen, public_url: str) -> Identify:
    """Identify by `Authorization: Bearer`. The token's record is read again on every request."""

    async def identify(request: web.Request) -> Principal:
        values = request.headers.getall("Authorization", [])
        scheme, _, text = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        found = await tokens.verify(text.strip()) if scheme.lower() == "bearer" else None
        if found is None:
            raise Problem(
                ProblemKind.SIGN_IN_NEEDED,
                "The token is not valid." if values else "A token is needed.",
                f"Make one at {public_url}{TOKENS_PATH} and send it as `Authorization: Bearer …`.",
                reason="invalid_token" if values else "no_token",
            )
        digest, token = found
        await seen.note(digest, token)
        servers = token.servers
        return Principal(person=token.person, digest=digest, session_kind=None, servers=servers)

    return identify


def challenge(request: web.Request, problem: Problem, public_url: str) -> str | None:
    """The `WWW-Authenticate` of a 401 at /mcp (RFC 9728 §5.1); None elsewhere."""
    route = route_of(request)
    if problem.kind is not ProblemKind.SIGN_IN_NEEDED or route is None:
        return None
    if route.access is not Access.BEARER:
        return None
    metadata = f'Bearer resource_metadata="{public_url}{RESOURCE_METADATA_PATH}{MCP_PATH}"'
    return f'{metadata}, error="invalid_token"' if problem.reason == "invalid_token" else metadata
