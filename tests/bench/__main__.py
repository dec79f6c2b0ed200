"""`make bench`: measure, print, and write docs/performance.md (ARGS='--dry' leaves it alone)."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.bench import report, rounds, startup
from tests.bench.paths import paths
from tests.bench.rounds import Load


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


def main() -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--alone", type=int, default=300, help="calls by one caller, a round")
    parser.add_argument("--crowd", type=int, default=1500, help="calls by 32 callers, a round")
    parser.add_argument("--starts", type=int, default=3, help="starts of the whole stack")
    parser.add_argument("--dry", action="store_true", help="print only")
    arguments = parser.parse_args()
    load = Load(arguments.rounds, arguments.alone, arguments.crowd)
    text = run(load, arguments.starts, arguments.crowd)
    print(text)
    if not arguments.dry:
        report.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
