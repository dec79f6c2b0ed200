"""The tables of the relays beside each other."""

from tests.bench.caller import Era
from tests.bench.peers.beside import Beside, Load
from tests.bench.report import facts

_REASON = 300


def text(found: Beside, load: Load) -> str:
    """Facts, what was called, the calls, the memory, and what is missing."""
    parts = [facts(), _versions(found), _head(load), _calls(found), _memory(found), _missing(found)]
    return "\n\n".join(part for part in parts if part)


def _versions(found: Beside) -> str:
    named = [f"{name} on Python {python}" for name, python in found.versions.items()]
    return f"Others: {', '.join(named)}." if named else ""


def _head(load: Load) -> str:
    callers = ", ".join(map(str, load.callers))
    return (
        f"Medians of {load.rounds} rounds, after {load.warm} calls that do not count. In each "
        f"round {load.quick} calls by the first three ways and {load.slow} by the others, with "
        f"{callers} callers at once. Times in milliseconds."
    )


def _calls(found: Beside) -> str:
    rows = [
        "| caller speaks | callers | way | p50 | p99 | calls/s | hop CPU ms/call "
        "| the relay's is N times less |",
        "|---|--:|---|--:|--:|--:|--:|--:|",
    ]
    eras = list(Era)
    # the ways of a cell stay in the order in which they were taken
    for cell in sorted(found.samples, key=lambda cell: (cell.callers, eras.index(cell.era))):
        one, relay = found.samples[cell], found.samples[cell._replace(way="relay")]
        cpu = f"{one.cpu_ms:.2f}" if one.cpu_ms else "-"
        less = f"{one.cpu_ms / relay.cpu_ms:.1f}" if one.cpu_ms else "-"
        rows.append(
            f"| {cell.era} | {cell.callers} | {cell.way} | {one.p50:.2f} | {one.p99:.1f} "
            f"| {one.per_second:.0f} | {cpu} | {less} |"
        )
    return "\n".join(rows)


def _memory(found: Beside) -> str:
    rows = ["| way | MiB at rest | MiB at the end |", "|---|--:|--:|"]
    rows += [f"| {way} | {rest:.0f} | {end:.0f} |" for way, (rest, end) in found.memory.items()]
    return "\n".join(rows)


def _missing(found: Beside) -> str:
    lines = [
        f"- Not measured: {way}, {' '.join(why.split())[:_REASON]}"
        for way, why in found.missing.items()
    ]
    return "\n".join(lines)
