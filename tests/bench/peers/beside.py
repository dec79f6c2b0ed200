"""Every way in every round, in turn: direct, the forwarder, the relay, and each other relay.

A relay that cannot be had here, does not start, or answers anything but the result is left out, and
the report says why.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from subprocess import CalledProcessError

from aiohttp import ClientError

from tests.bench import paths
from tests.bench.caller import Call, CallFailed, Era
from tests.bench.paths import Paths
from tests.bench.peers import start_contextforge, start_fastmcp
from tests.bench.peers.installed import Installed, NotInstalled, Package, installed
from tests.bench.peers.peer import Peer
from tests.bench.rounds import Cell, Sample, medians, sample
from tests.bench.usage import family, family_mib
from tests.peers.process import NotStarted

SERVER = "stub"
Start = Callable[[Path, Installed, str], AbstractContextManager[Peer]]
PEERS: dict[str, tuple[Package, Start]] = {
    **{
        f"FastMCP, {clients}": (
            start_fastmcp.PACKAGE,
            partial(start_fastmcp.fastmcp, clients=clients),
        )
        for clients in start_fastmcp.CLIENTS
    },
    **{
        f"ContextForge, {kind}": (
            start_contextforge.PACKAGE,
            partial(start_contextforge.contextforge, kind=kind),
        )
        for kind in start_contextforge.KINDS
    },
}
_NOT_MEASURED = (NotInstalled, NotStarted, CallFailed, CalledProcessError, ClientError, OSError)


@dataclass(frozen=True)
class Load:
    """How much is called in a round: `quick` calls by the ways of the bench, `slow` by others."""

    rounds: int
    quick: int
    slow: int
    warm: int = 40
    callers: tuple[int, ...] = (1, 16, 32)


@dataclass
class Beside:
    """What was found. `memory`: MiB by way, at rest and at the end. `missing`: why, by way."""

    samples: dict[Cell, Sample] = field(default_factory=dict)
    memory: dict[str, tuple[float, float]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ways:
    """The bench's own ways and the others. `rounds.Ways` of one server."""

    own: Paths
    peers: Mapping[str, Peer]

    @property
    def names(self) -> list[str]:
        """Of all, in the order of the report."""
        return [*paths.WAYS, *self.peers]

    def call(self, way: str, server: str, era: Era) -> Call:
        """The tool call that goes this way."""
        if way in self.peers:
            return replace(self.peers[way].call, era=era)
        return self.own.call(way, server, era)

    def pids(self, way: str, server: str) -> list[int]:
        """The processes that the way adds, and their children."""
        return [pid for parent in self.parents(way) for pid in family(parent)]

    def parents(self, way: str) -> list[int]:
        """The processes that the bench started for it."""
        if way in self.peers:
            return [child.pid for child in self.peers[way].processes]
        return self.own.pids(way, SERVER)


def measure(folder: Path, load: Load, say: Callable[[str], None]) -> Beside:
    """All of it; logs and settings go into `folder`."""
    found = Beside()
    with paths.paths(folder) as own, _peers(folder, own, found, say) as peers:
        ways = Ways(own, peers)
        rest = _memory(ways)
        asyncio.run(_rounds(ways, load, found, say))
        found.memory = {way: (rest[way], mib) for way, mib in _memory(ways).items()}
    return found


@contextmanager
def _peers(
    folder: Path, own: Paths, found: Beside, say: Callable[[str], None]
) -> Iterator[Mapping[str, Peer]]:
    url = own.urls["direct", SERVER]
    with ExitStack() as stack:
        peers: dict[str, Peer] = {}
        for way, (package, start) in PEERS.items():
            say(f"starting {way}")
            try:
                environment = installed(package)
                peers[way] = stack.enter_context(start(folder, environment, url))
            except _NOT_MEASURED as problem:
                found.missing[way] = f"not started: {problem}"
            else:
                name = f"{package.distribution} {environment.version}"
                found.versions[name] = environment.python
        yield peers


async def _rounds(ways: Ways, load: Load, found: Beside, say: Callable[[str], None]) -> None:
    samples: dict[Cell, list[Sample]] = {}
    for way, era in product(ways.names, Era):
        await _add(ways, Cell(SERVER, era, 1, way), load.warm, {}, found)
    for number in range(load.rounds):
        say(f"round {number + 1} of {load.rounds}")
        for callers, era, way in product(load.callers, Era, ways.names):
            calls = load.slow if way in ways.peers else load.quick
            await _add(ways, Cell(SERVER, era, callers, way), calls, samples, found)
    found.samples = {cell: medians(some) for cell, some in samples.items()}


async def _add(
    ways: Ways, cell: Cell, calls: int, samples: dict[Cell, list[Sample]], found: Beside
) -> None:
    """Measure one cell once more. Ours must work; what fails through another is said, and left."""
    if f"{cell.way} at {cell.era}" in found.missing:
        return
    try:
        samples.setdefault(cell, []).append(await sample(ways, cell, calls))
    except (*_NOT_MEASURED, ExceptionGroup) as problem:
        if cell.way not in ways.peers:
            raise
        one = problem
        while isinstance(one, ExceptionGroup):
            one = one.exceptions[0]
        text = f"stopped with {cell.callers} callers: {one}"
        found.missing[f"{cell.way} at {cell.era}"] = text


def _memory(ways: Ways) -> dict[str, float]:
    return {way: sum(map(family_mib, ways.parents(way))) for way in ways.names if way != "direct"}
