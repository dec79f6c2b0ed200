"""So many failures a minute from one address, and so much of one person; counted in Redis.

What could be guessed is 256 random bits: the limits are for whoever tries anyway, and for what each
try costs. Only failures count by address, so that an office behind one address signs in freely.
"""

from collections.abc import Sequence
from typing import NamedTuple

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
CLIENT_FAILURES = 120
TOKENS = 40
QUESTIONS = 60
REFRESHES = 120
_HOUR = 3600

# a page elsewhere can have its visitors send that as images, without end: no cookie goes with them
_TRIES_NOTHING = frozenset({Reason.COOKIE_MISSING, Reason.LINK_MISSING})


class Failing(NamedTuple):
    """Failures of one kind, and the most of them from one address in a minute."""

    name: str
    most: int


SIGN_INS = Failing("address", FAILURES)
# apart: a client gone wild must not keep the people of its office from signing in
CLIENTS = Failing("client", CLIENT_FAILURES)


class Limits:
    """Counts and refuses. Methods may raise `StoreUnavailable`."""

    def __init__(
        self, store: KeyValue, seal: Seal, clock: Clock, proxies: Sequence[Network]
    ) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._proxies = proxies

    async def check(self, request: web.Request, what: Failing = SIGN_INS) -> None:
        """Raises TOO_MANY_REQUESTS when this address has failed too often."""
        found = await self._store.get(self._of_address(request, what))
        if found is not None and found.isdigit() and int(found) >= what.most:
            raise self._too_many(f"{what.name}-limit")

    async def failed(self, request: web.Request, what: Failing = SIGN_INS) -> None:
        """One more failure from this address."""
        key = self._of_address(request, what)
        if await self._store.count(key, 2 * WINDOW_SECONDS) == what.most:
            log.warning(f"{what.name}-limit", failures=what.most)

    async def token(self, subject: str) -> None:
        """One more token of this person. Raises TOO_MANY_REQUESTS."""
        await self._of_person("token", subject, TOKENS)

    async def question(self, subject: str) -> None:
        """One more request of a client to this person, which may have a document fetched."""
        await self._of_person("question", subject, QUESTIONS)

    async def refresh(self, subject: str) -> None:
        """One more token that a client of this person is given. Raises TOO_MANY_REQUESTS."""
        await self._of_person("refresh", subject, REFRESHES)

    async def is_first_denial(self, subject: str, reason: str) -> bool:
        """Whether this person was not let in for this reason for the first time in this hour.

        Anybody with an account at the provider can try: it must not push other entries out of the
        trail.
        """
        hour = str(int(self._clock()) // _HOUR)
        key = keys.AUTH_LIMIT.key("denied", subject, reason, hour)
        return await self._store.count(key, _HOUR) == 1

    async def _of_person(self, what: str, subject: str, most: int) -> None:
        key = keys.AUTH_LIMIT.key(what, subject, self._window())
        if await self._store.count(key, 2 * WINDOW_SECONDS) > most:
            raise self._too_many("person-limit")

    def _of_address(self, request: web.Request, what: Failing) -> str:
        origin = origin_of(client_address(request, self._proxies))
        # a dump tells nobody's address
        return keys.AUTH_LIMIT.key(what.name, self._seal.digest("origin", origin), self._window())

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


def counting_clients(handler: Handler) -> Handler:
    """What clients ask directly: an error counts, such as a code or token that is none."""

    async def counted(request: web.Request) -> web.StreamResponse:
        limits = request.app[PARTS].limits
        await limits.check(request, CLIENTS)
        response = await handler(request)
        if response.status in {400, 401}:
            await limits.failed(request, CLIENTS)
        return response

    return counted
