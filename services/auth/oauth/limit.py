"""So many requests a minute from one address, and from all together, counted in Redis."""

from aiohttp import web

from services.auth.parts import Parts
from shared import keys
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal
from shared.web.address import client_address, origin_of

WINDOW_SECONDS = 60


class Limit:
    """`one`, `everybody`: the most in a minute."""

    def __init__(self, parts: Parts, seal: Seal, name: str, one: int, everybody: int) -> None:
        self._store = parts.store
        self._clock = parts.clock
        self._proxies = parts.config.trusted_proxies
        self._seal = seal
        self._name = name
        self._most = {"one": one, "all": everybody}

    async def enter(self, request: web.Request) -> None:
        """Count a request. Raises TOO_MANY_REQUESTS."""
        now = int(self._clock())
        window = str(now // WINDOW_SECONDS)
        # a dump tells nobody's address
        whose = self._seal.digest("origin", origin_of(client_address(request, self._proxies)))
        counted = [
            keys.OAUTH.key("limit", self._name, "one", window, whose),
            keys.OAUTH.key("limit", self._name, "all", window),
        ]
        _, counts = await self._store.look([], counted, counted, 2 * WINDOW_SECONDS)
        if any(count > most for count, most in zip(counts, self._most.values(), strict=True)):
            wait = WINDOW_SECONDS - now % WINDOW_SECONDS
            title, advice = "Too many ask for this at once.", f"Wait {wait} s, and try again."
            kind = ProblemKind.TOO_MANY_REQUESTS
            raise Problem(kind, title, advice, f"{self._name}-limit", retry_after=wait)
