"""Servers that cannot be reached are not tried by every caller: one tries, the others are told.

Only a failure to connect, or to get any answer at all, counts: what a server says, slowly or as an
error, is its own affair, and no caller can shut it off for others by provoking errors. Each replica
and each server has a circuit of its own.
"""

from types import TracebackType

from services.relay.gate import Way
from services.relay.servers.failures import problem_with
from shared import log, metrics
from shared.clock import Clock
from shared.contracts.config import Server
from shared.contracts.problems import Problem, ProblemKind

FAILURES = 5
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 5.0
TRY_SECONDS = 2.0

_CLOSED, _TRYING, _OPEN = 0, 1, 2
_TRANSPORT = frozenset({ProblemKind.UPSTREAM_UNREACHABLE, ProblemKind.UPSTREAM_TIMEOUT})


class Circuit:
    """One server's, around each request until its answer begins.

    Raises a `Problem` while the circuit is open, and for what goes wrong inside. When its pause is
    over, one request tries; if it takes long, another one does besides. `clock`: seconds of any
    kind that go forward.
    """

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self._failures = 0
        self._pause = FIRST_PAUSE
        self._again_at: float | None = None  # None: closed
        metrics.CIRCUITS.labels(server.slug).set(_CLOSED)

    def __enter__(self) -> None:
        if self._again_at is not None:
            wait = self._again_at - self._clock()
            if wait > 0:
                raise _open(self._server, wait)
            self._again_at = self._clock() + TRY_SECONDS
            metrics.CIRCUITS.labels(self._server.slug).set(_TRYING)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self._worked()
            return
        problem = error if isinstance(error, Problem) else problem_with(self._server, error)
        if problem is not None:
            if problem.kind in _TRANSPORT:
                self._failed()
            if problem is not error:
                raise problem from error
        elif self._again_at is not None:
            self._again_at = self._clock()  # its caller left: somebody else may try at once

    def _failed(self) -> None:
        self._failures += 1
        if self._failures < FAILURES:
            return
        if self._again_at is None:
            log.warning("circuit-open", slug=self._server.slug, failures=self._failures)
        self._again_at = self._clock() + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        metrics.CIRCUITS.labels(self._server.slug).set(_OPEN)

    def _worked(self) -> None:
        if not self._failures:
            return
        if self._again_at is not None:
            log.event("circuit-closed", slug=self._server.slug)
            metrics.CIRCUITS.labels(self._server.slug).set(_CLOSED)
        self._failures, self._pause, self._again_at = 0, FIRST_PAUSE, None


class Breaker:
    """The circuits of this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._circuits: dict[str, Circuit] = {}

    def of(self, way: Way) -> Circuit:
        """The circuit of a way's server."""
        server = way.server
        if server.slug not in self._circuits:
            self._circuits[server.slug] = Circuit(server, self._clock)
        return self._circuits[server.slug]


def _open(server: Server, wait: float) -> Problem:
    seconds = max(1, round(wait))
    title = f"{server.name} cannot be reached."
    advice = f"Several tries have failed; strad tries again in {seconds} s. Tell its owner."
    kind = ProblemKind.UPSTREAM_UNREACHABLE
    return Problem(kind, title, advice, "circuit-open", retry_after=seconds)
