"""The measured parts of docs/performance.md, and the text of the first: calls."""

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

from demo.run.settings import ROOT
from tests.bench.caller import Era
from tests.bench.paths import SERVERS, WAYS
from tests.bench.rounds import Cell, Load, Sample
from tests.bench.startup import Startup

DOCUMENT = ROOT / "docs" / "performance.md"
MARKS = {
    part: (
        f"<!-- measured{name}: `make bench` writes from here -->\n",
        f"<!-- measured{name}: to here -->\n",
    )
    for part, name in (
        ("calls", ""),
        ("pages", " pages"),
        ("people", " people"),
        ("streams", " streams"),
        ("sessions", " sessions"),
        ("peers", " peers"),
    )
}

_NAMES = {"stub": "constant answer", "sdk": "SDK server"}


def write(text: str, begin: str, end: str, document: Path = DOCUMENT) -> None:
    """Put a new measured part in the place of the old one; the words around it stay."""
    before, mark, rest = document.read_text().partition(begin)
    _, stop, after = rest.partition(end)
    if not (mark and stop):
        raise ValueError(f"{document} has lost its marks: {begin.strip()} and {end.strip()}")
    document.write_text(f"{before}{begin}\n{text}\n\n{end}{after}")


def text(samples: dict[Cell, Sample], load: Load, startup: Startup) -> str:
    """Facts of the machine and two tables."""
    return "\n\n".join(
        (facts(), _calls_head(load), _calls(samples), _startup_head(startup), _memory(startup))
    )


def facts() -> str:
    """The machine and the versions, for the head of a part."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("aiohttp", "mcp", "uvicorn"))
    return (
        f"Measured on {time.strftime('%Y-%m-%d', time.gmtime())}: {_processor()}, "
        f"{os.cpu_count()} processors, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, {versions}. "
        f"Load of the machine at the end: {os.getloadavg()[0]:.1f}."
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _calls_head(load: Load) -> str:
    return (
        "### A tool call\n\n"
        f"Medians of {load.rounds} rounds. In each, {load.alone} calls by one caller and "
        f"{load.crowd} by {' and by '.join(map(str, load.callers))} at once. Times in "
        "milliseconds. `hop CPU` is what the way adds: the forwarder, or the relay and its Redis; "
        "then how many times that of the forwarder."
    )


def _calls(samples: dict[Cell, Sample]) -> str:
    rows = [
        "| server | caller speaks | callers | way | p50 | p99 | calls/s | hop CPU ms/call "
        "| times the forwarder's |",
        "|---|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    for cell in sorted(samples, key=_place):
        found = samples[cell]
        cpu = f"{found.cpu_ms:.2f}" if found.cpu_ms else "-"
        floor = samples.get(cell._replace(way="forwarder"))
        times = f"{found.cpu_ms / floor.cpu_ms:.1f}" if floor and found.cpu_ms else "-"
        rows.append(
            f"| {_NAMES[cell.server]} | {cell.era} | {cell.callers} | {cell.way} "
            f"| {found.p50:.2f} | {found.p99:.1f} | {found.per_second:.0f} | {cpu} | {times} |"
        )
    return "\n".join(rows)


def _place(cell: Cell) -> tuple[int, ...]:
    eras = list(Era)
    return (
        cell.callers,
        SERVERS.index(cell.server),
        eras.index(cell.era),
        WAYS.index(cell.way),
    )


def _startup_head(startup: Startup) -> str:
    return (
        "### The whole stack\n\n"
        f"From the command of `make run` to its screen: {startup.ready:.1f} s "
        "(environment installed, files in the cache of the system)."
    )


def _memory(startup: Startup) -> str:
    rows = [
        f"| process | MiB at rest | MiB after {startup.calls} calls |",
        "|---|--:|--:|",
    ]
    for name, (rest, after) in startup.memory.items():
        rows.append(f"| {name} | {rest:.0f} | {after:.0f} |")
    return "\n".join(rows)
