"""The measured part of docs/performance.md."""

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

from demo.run.settings import ROOT
from tests.bench.caller import Era, Times
from tests.bench.paths import SERVERS, WAYS
from tests.bench.people import Cost
from tests.bench.rounds import Cell, Load, Sample
from tests.bench.startup import Startup
from tests.bench.streams import Streams

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


def pages_text(served: dict[tuple[str, str], Times], shown: dict[str, Times]) -> str:
    """What it takes to open a page: facts and a table."""
    rows = ["| what | way | p50 | p95 |", "|---|---|--:|--:|"]
    named = [(part, way, times) for (part, way), times in served.items()]
    named += [("to the result in the page", way, times) for way, times in shown.items()]
    for part, way, times in named:
        p50, p95 = (times.percentile(share) * 1000 for share in (0.5, 0.95))
        rows.append(f"| {part} | {way} | {p50:.1f} | {p95:.1f} |")
    count = (len(next(iter(some.values())).each) for some in (served, shown))
    head = "{} requests of each kind, and {} openings in Chromium, each way. Times in milliseconds."
    return "\n\n".join((_facts(), head.format(*count), "\n".join(rows)))


def people_text(cost: Cost) -> str:
    """What many people and servers cost: facts and a table."""
    rows = [
        "| what | |",
        "|---|--:|",
        f"| the file is read and checked, of a processor | {cost.read:.1f} s |",
        f"| memory of it and its index, in each relay | {cost.memory:.0f} MiB |",
        f"| a person's servers, from the index: p50, p99 | {_micro(cost.index)} |",
        f"| a grant of all servers, asked and kept in Redis: p50, p99 | {_micro(cost.first)} |",
        f"| the same, from Redis: p50, p99 | {_micro(cost.again)} |",
        f"| memory of all people's grants of all servers, in Redis | {cost.kept:.0f} MiB |",
    ]
    size = cost.size
    head = f"{size.people:,} people in groups, {size.servers} servers. One caller, no HTTP."
    return "\n\n".join((_facts(), head, "\n".join(rows)))


def _micro(times: Times) -> str:
    return ", ".join(f"{times.percentile(share) * 1e6:.0f} µs" for share in (0.5, 0.99))


def streams_text(found: dict[str, Streams]) -> str:
    """What idle streams cost: facts and a table."""
    rows = [
        "| callers speak | streams | MiB | KiB each | opened in s | idle CPU % | call p50 "
        "| call p99 | told half | told all |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for kind, one in found.items():
        each = (one.mib[1] - one.mib[0]) * 1024 / one.number
        rows.append(
            f"| {kind} | {one.number} | {one.mib[1]:.0f} | {each:.0f} | {one.opened:.1f} "
            f"| {one.idle_cpu * 100:.1f} "
            f"| {one.p50[0] * 1000:.1f} → {one.p50[1] * 1000:.1f} "
            f"| {one.p99[0] * 1000:.1f} → {one.p99[1] * 1000:.1f} "
            f"| {one.told[0] * 1000:.0f} | {one.told[1] * 1000:.0f} |"
        )
    head = (
        "`call` is a tool call by one other caller, before and while they are open, and `told` the "
        "time from one change at the server until half of them and all of them have heard. Times "
        "in milliseconds."
    )
    return "\n\n".join((_facts(), head, "\n".join(rows)))


def text(samples: dict[Cell, Sample], load: Load, startup: Startup) -> str:
    """Facts of the machine and two tables."""
    return "\n\n".join(
        (_facts(), _calls_head(load), _calls(samples), _startup_head(startup), _memory(startup))
    )


def _facts() -> str:
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
