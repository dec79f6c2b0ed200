"""`make bench`: measure, print, and write docs/performance.md (ARGS='--dry' leaves it alone)."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from demo.run.ports import free_ports
from demo.run.settings import Settings
from tests.bench import pages, people, report, rounds, startup, streams
from tests.bench.paths import paths
from tests.bench.rounds import Load
from tests.live import LiveStack

PARTS = ("calls", "pages", "people", "streams")
_STREAM_CALLS = 300
_STACK_CALLS = 1000  # the demo has the limits that anybody has: 1200 requests a minute


def say(text: str) -> None:
    """Progress; the result alone goes to standard output."""
    print(text, file=sys.stderr, flush=True)


def run(load: Load, starts: int, calls: int) -> str:
    """All measurements, as the text of the report."""
    with tempfile.TemporaryDirectory(prefix="strad-bench-") as name:
        folder = Path(name)
        with paths(folder) as ways:
            samples = asyncio.run(rounds.measure(ways, load, say))
        whole = asyncio.run(startup.measure(folder, starts, calls, say))
    return report.text(samples, load, whole)


def run_pages(requests: int, openings: int) -> str:
    """What it takes to open a page, as the text of its part of the report."""
    say("opening pages")
    (port,) = free_ports(1, in_a_row=2)
    with (
        tempfile.TemporaryDirectory(prefix="strad-bench-") as name,
        LiveStack(Settings(port=port)) as strad,
        pages.pages(Path(name), strad) as found,
    ):
        served = asyncio.run(pages.served(found, requests))
        shown = asyncio.run(pages.shown(found, openings))
    return report.pages_text(served, shown)


def run_people() -> str:
    """What many people and servers cost, as the text of its part of the report."""
    with tempfile.TemporaryDirectory(prefix="strad-bench-") as name:
        cost = asyncio.run(people.measure(Path(name), people.Size(), say))
    return report.people_text(cost)


def run_streams(number: int) -> str:
    """What idle streams cost, as the text of their part of the report."""
    found = {}
    for kind in streams.KINDS:
        say(f"{number} streams: {kind}")
        with tempfile.TemporaryDirectory(prefix="strad-bench-") as name:
            found[kind] = streams.measure(kind, number, _STREAM_CALLS, Path(name))
    return report.streams_text(found)


def main() -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--alone", type=int, default=300, help="calls by one caller, a round")
    parser.add_argument(
        "--crowd", type=int, default=1500, help="calls by 16, and by 32 callers, a round"
    )
    parser.add_argument("--starts", type=int, default=3, help="starts of the whole stack")
    parser.add_argument("--requests", type=int, default=300, help="for each part of a page")
    parser.add_argument("--openings", type=int, default=30, help="of a page in a browser")
    parser.add_argument("--streams", type=int, default=1000, help="idle streams at one relay")
    parser.add_argument("--only", choices=PARTS, help="measure one part")
    parser.add_argument("--dry", action="store_true", help="print only")
    arguments = parser.parse_args()
    chosen = PARTS if arguments.only is None else (arguments.only,)
    load = Load(arguments.rounds, arguments.alone, arguments.crowd)
    parts: dict[str, Callable[[], str]] = {
        "calls": lambda: run(load, arguments.starts, min(arguments.crowd, _STACK_CALLS)),
        "pages": lambda: run_pages(arguments.requests, arguments.openings),
        "people": run_people,
        "streams": lambda: run_streams(arguments.streams),
    }
    for part in chosen:
        text = parts[part]()
        print(text)
        if not arguments.dry:
            report.write(text, *report.MARKS[part])
    return 0


if __name__ == "__main__":
    sys.exit(main())
