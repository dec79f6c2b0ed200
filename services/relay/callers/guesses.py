"""Made-up tokens: so many a minute from one address, counted in Redis for all replicas at once.

A token is 256 random bits: the limit is for whoever tries anyway, and for what each try costs. Only
what is no token counts, and only after it was looked up: who has a good one is let in from the same
address as ever, and pays nothing for the limit.
"""

from collections.abc import Sequence

from aiohttp import web

from services.relay.callers.limits import KEEP_SECONDS, WINDOW_SECONDS
from shared import keys, log
from shared.clock import Clock
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal
from shared.stores.kv import KeyValue
from shared.web.address import Network, client_address, origin_of

MOST = 60


class Guesses:
    """Counts and refuses. Methods may raise `StoreUnavailable`."""

    def __init__(
        self, store: KeyValue, seal: Seal, clock: Clock, proxies: Sequence[Network]
    ) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._proxies = proxies

    async def one_more(self, request: web.Request) -> None:
        """A token came that is none. Raises TOO_MANY_REQUESTS."""
        now = int(self._clock())
        origin = origin_of(client_address(request, self._proxies))
        # a dump tells nobody's address
        place = self._seal.digest("origin", origin)
        key = keys.LIMIT.key("address", place, str(now // WINDOW_SECONDS))
        count = await self._store.count(key, KEEP_SECONDS)
        if count <= MOST:
            return
        if count == MOST + 1:
            log.warning("address-limit", tokens=MOST)
        wait = WINDOW_SECONDS - now % WINDOW_SECONDS
        raise Problem(
            ProblemKind.TOO_MANY_REQUESTS,
            "Too many tokens that are not valid came from your address.",
            f"At most {MOST} a minute: wait {wait} s, then send one that is.",
            "address-limit",
            retry_after=wait,
        )
