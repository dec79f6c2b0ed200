"""How often it may be tried to be a machine, and how many tokens or links one machine gets.

Failures are counted by address, and by the machine that was named, from all addresses together.
When a machine has too many of the second kind, an address that has failed once has to wait: whoever
tries from a thousand addresses gets a thousand tries, and the machine itself, which does not fail,
is not shut out by him.
"""

from aiohttp import web

from services.auth.parts import Parts
from shared import keys, log
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal
from shared.web.address import client_address, origin_of

WINDOW_SECONDS = 60
FROM_ONE = 30
AT_ONE_MACHINE = 100
GIVEN = 60
LINKS_OF_ONE = 5


class Tries:
    """Counts and refuses, for one request. Methods may raise `StoreUnavailable`."""

    def __init__(self, parts: Parts, seal: Seal, request: web.Request) -> None:
        self._store = parts.store
        self._now = int(parts.clock())
        self._seal = seal
        address = origin_of(client_address(request, parts.config.trusted_proxies))
        self._from = self._key("failed", "from", address)

    async def check(self, client_id: str | None) -> None:
        """Raises TOO_MANY_REQUESTS. `client_id`: of a machine that there is, or None."""
        wanted = [self._from] if client_id is None else [self._from, self._at(client_id)]
        failed = [_number(one) for one in await self._store.get_many(wanted)]
        under_attack = client_id is not None and failed[1] >= AT_ONE_MACHINE
        if failed[0] >= (1 if under_attack else FROM_ONE):
            raise self._too_many("machine-tries")

    async def failed(self, client_id: str | None) -> None:
        """One more failure."""
        if await self._store.count(self._from, 2 * WINDOW_SECONDS) == FROM_ONE:
            log.warning("machine-tries", failures=FROM_ONE)
        if client_id is not None:
            count = await self._store.count(self._at(client_id), 2 * WINDOW_SECONDS)
            if count == AT_ONE_MACHINE:
                log.warning("machine-tries", failures=AT_ONE_MACHINE, client=client_id)

    async def given(self, client_id: str, what: str) -> None:
        """One more token or link for this machine. Raises TOO_MANY_REQUESTS."""
        key = self._key("given", what, client_id)
        if await self._store.count(key, 2 * WINDOW_SECONDS) > GIVEN:
            raise self._too_many("machine-limit")

    async def link_for(self, subject: str) -> None:
        """One more link for this person, whoever makes it. Raises TOO_MANY_REQUESTS."""
        key = self._key("given", "link-for", subject)
        if await self._store.count(key, 2 * WINDOW_SECONDS) > LINKS_OF_ONE:
            raise self._too_many("link-limit")

    def _at(self, client_id: str) -> str:
        return self._key("failed", "at", client_id)

    def _key(self, what: str, of: str, whose: str) -> str:
        # a dump tells nobody's address, and which machines there are
        digest = self._seal.digest("machine-tries", whose)
        return keys.OAUTH.key("machine", what, of, digest, str(self._now // WINDOW_SECONDS))

    def _too_many(self, reason: str) -> Problem:
        wait = WINDOW_SECONDS - self._now % WINDOW_SECONDS
        title, advice = "Too many attempts.", f"Wait {wait} s, and try again."
        return Problem(ProblemKind.TOO_MANY_REQUESTS, title, advice, reason, retry_after=wait)


def _number(value: bytes | None) -> int:
    return int(value) if value is not None and value.isdigit() else 0
