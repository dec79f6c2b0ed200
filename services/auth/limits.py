"""So many failures a minute from one address, and so much of one person; counted in Redis.

What could be guessed is 256 random bits: the limits are for whoever tries anyway, and for what each
try costs. Only failures count by address, so that an office behind one address signs in freely.
"""

from collections.abc import Sequence

from aiohttp import web

from services.auth.parts import PARTS
from services.auth.refusals import Reason, SignInFailed
from shared import keys, log
from shared.clock import Clock
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal
from shared.stores.kv import KeyValue
from shared.web.address import Network, client_address, origin_of
from shared.web.routes import Handler

WINDOW_SECONDS = 60
FAILURES = 30
TOKENS = 40

# a page elsewhere can have its visitors send that as images, without end: no cookie goes with them
_TRIES_NOTHING = frozenset({Reason.COOKIE_MISSING, Reason.LINK_MISSING})


class Limits:
    """Counts and refuses. Methods may raise `StoreUnavailable`."""

    def __init__(
        self, store: KeyValue, seal: Seal, clock: Clock, proxies: Sequence[Network]
    ) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._proxies = proxies

    async def check(self, request: web.Request) -> None:
        """Raises TOO_MANY_REQUESTS when this address has failed too often."""
        found = await self._store.get(self._of_address(request))
        if found is not None and found.isdigit() and int(found) >= FAILURES:
            raise self._too_many("address-limit")

    async def failed(self, request: web.Request) -> None:
        """One more failure from this address."""
        if await self._store.count(self._of_address(request), 2 * WINDOW_SECONDS) == FAILURES:
            log.warning("address-limit", failures=FAILURES)

    async def token(self, subject: str) -> None:
        """One more token of this person. Raises TOO_MANY_REQUESTS."""
        key = keys.AUTH_LIMIT.key("token", subject, self._window())
        if await self._store.count(key, 2 * WINDOW_SECONDS) > TOKENS:
            raise self._too_many("person-limit")

    def _of_address(self, request: web.Request) -> str:
        origin = origin_of(client_address(request, self._proxies))
        # a dump tells nobody's address
        return keys.AUTH_LIMIT.key("address", self._seal.digest("origin", origin), self._window())

    def _window(self) -> str:
        return str(int(self._clock()) // WINDOW_SECONDS)

    def _too_many(self, reason: str) -> Problem:
        wait = WINDOW_SECONDS - int(self._clock()) % WINDOW_SECONDS
        title, advice = "Too many attempts.", f"Wait {wait} s, and try again."
        kind = ProblemKind.TOO_MANY_REQUESTS
        return Problem(kind, title, advice, reason, retry_after=wait)


def counting(handler: Handler) -> Handler:
    """A handler whose failures count: sign-ins and links that are not good."""

    async def counted(request: web.Request) -> web.StreamResponse:
        limits = request.app[PARTS].limits
        await limits.check(request)
        try:
            return await handler(request)
        except SignInFailed as failure:
            # a provider that is down is nobody's attempt
            down = failure.kind is ProblemKind.PROVIDER_UNAVAILABLE
            if not down and failure.reason not in _TRIES_NOTHING:
                await limits.failed(request)
            raise

    return counted
