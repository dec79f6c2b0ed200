"""The rounds: in each, every way to every server, one after the other; then medians.

Ways are taken in turn inside a round, so that a busy moment of the machine hits all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import NamedTuple

from tests.bench.caller import Era
from tests.bench.paths import SERVERS, WAYS, Paths
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


@dataclass(frozen=True)
class Load:
    """How much is called: `alone` calls by one caller, `crowd` by each number of `callers`."""

    rounds: int
    alone: int
    crowd: int
    callers: tuple[int, ...] = (16, 32)


async def measure(paths: Paths, load: Load, say: Callable[[str], None]) -> dict[Cell, Sample]:
    """Medians over all rounds."""
    samples: dict[Cell, list[Sample]] = {}
    for way, server, era in product(WAYS, SERVERS, Era):
        await paths.call(way, server, era).measure(1, WARM_CALLS)
    for number in range(load.rounds):
        say(f"round {number + 1} of {load.rounds}")
        for server, era, callers in product(SERVERS, Era, (1, *load.callers)):
            for way in WAYS:
                cell = Cell(server, era, callers, way)
                calls = load.alone if callers == 1 else load.crowd
                samples.setdefault(cell, []).append(await _sample(paths, cell, calls))
    return {cell: _median(found) for cell, found in samples.items()}


async def _sample(paths: Paths, cell: Cell, calls: int) -> Sample:
    pids = [child.pid for child in paths.between[cell.way, cell.server]]
    before = sum(map(cpu_seconds, pids))
    times = await paths.call(cell.way, cell.server, cell.era).measure(cell.callers, calls)
    used = sum(map(cpu_seconds, pids)) - before
    return Sample(
        p50=times.percentile(0.5) * 1000,
        p99=times.percentile(0.99) * 1000,
        per_second=times.per_second,
        cpu_ms=used * 1000 / calls,
    )


def _median(samples: list[Sample]) -> Sample:
    return Sample(
        p50=median(s.p50 for s in samples),
        p99=median(s.p99 for s in samples),
        per_second=median(s.per_second for s in samples),
        cpu_ms=median(s.cpu_ms for s in samples),
    )
