"""`make bench`: measure, print, and write docs/performance.md (ARGS='--dry' leaves it alone)."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

from demo.run.ports import free_ports
from demo.run.settings import Settings
from tests.bench import pages, people, report, rounds, sessions, startup, streams, tables
from tests.bench.paths import paths
from tests.bench.peers import beside, table
from tests.bench.rounds import Load
from tests.live import LiveStack

PARTS = ("calls", "peers", "pages", "people", "sessions", "streams")
_STREAM_CALLS = 300
_SESSION_CALLS = 1000
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
    return tables.pages(served, shown)


def run_people() -> str:
    """What many people and servers cost, as the text of its part of the report."""
    found = []
    for size in people.SIZES:
        with tempfile.TemporaryDirectory(prefix="strad-bench-") as name:
            found.append(asyncio.run(people.measure(Path(name), size, say)))
    return tables.people(found)


def run_sessions(number: int) -> str:
    """What live sessions cost, as the text of their part of the report."""
    found = {}
    for view in sessions.VIEWS:
        say(f"{number} sessions: {view}")
        with tempfile.TemporaryDirectory(prefix="strad-bench-") as name:
            steps = {max(1, number // share) for share in (100, 10, 1)}
            found[view] = sessions.measure(view, sorted(steps), _SESSION_CALLS, Path(name))
    return tables.sessions(found)


def run_streams(number: int) -> str:
    """What idle streams cost, as the text of their part of the report."""
    found = []
    for kind, many in product(streams.KINDS, sorted({max(1, number // 10), number})):
        say(f"{many} streams: {kind}")
        with tempfile.TemporaryDirectory(prefix="strad-bench-") as name:
            found.append(streams.measure(kind, many, _STREAM_CALLS, Path(name)))
    return tables.streams(found)


def run_peers(load: beside.Load) -> str:
    """The relay beside others, as the text of its part of the report."""
    with tempfile.TemporaryDirectory(prefix="strad-bench-") as name:
        return table.text(beside.measure(Path(name), load, say), load)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    add = partial(parser.add_argument, type=int)
    add("--rounds", default=5, help="of calls, and beside other relays")
    add("--alone", default=300, help="calls by one caller, a round")
    add("--crowd", default=1500, help="calls by 16, and by 32 callers, a round")
    add("--others", default=160, help="calls by each other relay, a round")
    add("--starts", default=3, help="starts of the whole stack")
    add("--requests", default=300, help="for each part of a page")
    add("--openings", default=30, help="of a page in a browser")
    add("--sessions", default=10_000, help="live sessions at one relay")
    add("--streams", default=1000, help="idle streams at one relay")
    parser.add_argument("--only", choices=PARTS, help="measure one part")
    parser.add_argument("--dry", action="store_true", help="print only")
    return parser.parse_args()


def main() -> int:
    """Entry point; returns the exit status."""
    given = _arguments()
    load = Load(given.rounds, given.alone, given.crowd)
    parts: dict[str, Callable[[], str]] = {
        "calls": lambda: run(load, given.starts, min(given.crowd, _STACK_CALLS)),
        "peers": lambda: run_peers(beside.Load(given.rounds, given.crowd, given.others)),
        "pages": lambda: run_pages(given.requests, given.openings),
        "people": run_people,
        "sessions": lambda: run_sessions(given.sessions),
        "streams": lambda: run_streams(given.streams),
    }
    for part in PARTS if given.only is None else (given.only,):
        text = parts[part]()
        print(text)
        if not given.dry:
            report.write(text, *report.MARKS[part])
    return 0


if __name__ == "__main__":
    sys.exit(main())
