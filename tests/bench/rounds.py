"""The rounds: in each, every way to every server, one after the other; then medians.

Ways are taken in turn inside a round, so that a busy moment of the machine hits all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import NamedTuple, Protocol

from tests.bench.caller import Call, Era
from tests.bench.paths import SERVERS, WAYS
from tests.bench.usage import cpu_seconds

WARM_CALLS = 60


class Cell(NamedTuple):
    """One row of the table."""

    server: str
    era: Era
    callers: int
    way: str


@dataclass(frozen=True)
class Sample:
    """One cell in one round. Times in milliseconds; `cpu_ms` per call, of all that the way adds."""

    p50: float
    p99: float
    per_second: float
    cpu_ms: float


class Ways(Protocol):
    """Ways from a caller to a server."""

    def call(self, way: str, server: str, era: Era) -> Call:
        """The tool call that goes this way."""
        ...

    def pids(self, way: str, server: str) -> list[int]:
        """The processes that the way adds."""
        ...


@dataclass(frozen=True)
class Load:
    """How much is called: `alone` calls by one caller, `crowd` by each number of `callers`."""

    rounds: int
    alone: int
    crowd: int
    callers: tuple[int, ...] = (16, 32)


async def measure(ways: Ways, load: Load, say: Callable[[str], None]) -> dict[Cell, Sample]:
    """Medians over all rounds."""
    samples: dict[Cell, list[Sample]] = {}
    for way, server, era in product(WAYS, SERVERS, Era):
        await ways.call(way, server, era).measure(1, WARM_CALLS)
    for number in range(load.rounds):
        say(f"round {number + 1} of {load.rounds}")
        for server, era, callers in product(SERVERS, Era, (1, *load.callers)):
            for way in WAYS:
                cell = Cell(server, era, callers, way)
                calls = load.alone if callers == 1 else load.crowd
                samples.setdefault(cell, []).append(await sample(ways, cell, calls))
    return {cell: medians(found) for cell, found in samples.items()}


async def sample(ways: Ways, cell: Cell, calls: int) -> Sample:
    """One cell, once. Raises `CallFailed`."""
    pids = ways.pids(cell.way, cell.server)
    call = ways.call(cell.way, cell.server, cell.era)
    times = await call.measure(cell.callers, calls, lambda: sum(map(cpu_seconds, pids)))
    return Sample(
        p50=times.percentile(0.5) * 1000,
        p99=times.percentile(0.99) * 1000,
        per_second=times.per_second,
        cpu_ms=times.cpu * 1000 / calls,
    )


def medians(samples: Sequence[Sample]) -> Sample:
    """Of each figure by itself."""
    return Sample(
        p50=median(s.p50 for s in samples),
        p99=median(s.p99 for s in samples),
        per_second=median(s.per_second for s in samples),
        cpu_ms=median(s.cpu_ms for s in samples),
    )
