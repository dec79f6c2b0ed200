"""The text of the parts of docs/performance.md that are no calls."""

from collections.abc import Callable, Mapping, Sequence

from tests.bench.caller import Times
from tests.bench.people import Cost
from tests.bench.report import facts
from tests.bench.sessions import OF_EACH, Measured
from tests.bench.streams import Streams


def pages(served: dict[tuple[str, str], Times], shown: dict[str, Times]) -> str:
    """What it takes to open a page: facts and a table."""
    rows = ["| what | way | p50 | p95 |", "|---|---|--:|--:|"]
    named = [(part, way, times) for (part, way), times in served.items()]
    named += [("to the result in the page", way, times) for way, times in shown.items()]
    for part, way, times in named:
        p50, p95 = (times.percentile(share) * 1000 for share in (0.5, 0.95))
        rows.append(f"| {part} | {way} | {p50:.1f} | {p95:.1f} |")
    count = (len(next(iter(some.values())).each) for some in (served, shown))
    head = "{} requests of each kind, and {} openings in Chromium, each way. Times in milliseconds."
    return "\n\n".join((facts(), head.format(*count), "\n".join(rows)))


def people(costs: Sequence[Cost]) -> str:
    """What many people and servers cost: facts and a table."""
    rows: dict[str, Callable[[Cost], str]] = {
        "the file is read and checked, of a processor": lambda one: f"{one.read:.1f} s",
        "memory of it and its index, in each relay": lambda one: f"{one.memory:.0f} MiB",
        "a person's servers, from the index: p50, p99": lambda one: _micro(one.index),
        "a grant of all servers, asked and kept in Redis: p50, p99": lambda one: _micro(one.first),
        "the same, from Redis: p50, p99": lambda one: _micro(one.again),
        "memory of all people's grants of all servers, in Redis": lambda one: f"{one.kept:.0f} MiB",
    }
    sizes = [f"{one.size.people:,} people, {one.size.servers} servers" for one in costs]
    lines = [f"| what | {' | '.join(sizes)} |", f"|---|{'--:|' * len(costs)}"]
    lines += [f"| {name} | {' | '.join(map(row, costs))} |" for name, row in rows.items()]
    return "\n\n".join((facts(), "People are in groups. One caller, no HTTP.", "\n".join(lines)))


def _micro(times: Times) -> str:
    return ", ".join(f"{times.percentile(share) * 1e6:.0f} µs" for share in (0.5, 0.99))


def streams(found: Sequence[Streams]) -> str:
    """What idle streams cost: facts and a table."""
    rows = [
        "| callers speak | streams | MiB | KiB each | opened in s | idle CPU % | call p50 "
        "| call p99 | told half | told all |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for one in found:
        each = (one.mib[1] - one.mib[0]) * 1024 / one.number
        rows.append(
            f"| {one.kind} | {one.number} | {one.mib[1]:.0f} | {each:.0f} | {one.opened:.1f} "
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
    return "\n\n".join((facts(), head, "\n".join(rows)))


def sessions(found: Mapping[str, Measured]) -> str:
    """What live sessions cost: facts and a table."""
    rows = [
        "| view | sessions | relay MiB | Redis MiB | opened a second | one: p50 | one: p99 "
        "| one: CPU ms/call | in turn: p50 | in turn: p99 | in turn: CPU ms/call |",
        f"|---|{'--:|' * 10}",
    ]
    for view, measured in found.items():
        relay, store = measured.bare
        rows.append(f"| {view} | 0 | {relay:.1f} | {store:.1f} |{' - |' * 7}")
        rows += [
            f"| {view} | {one.number:,} | {relay + one.relay:.1f} | {store + one.store:.1f} "
            f"| {one.opened:.0f} | {_called(one.one)} | {_called(one.turn)} |"
            for one in measured.steps
        ]
    head = (
        f"{OF_EACH} sessions of each person, at one relay. One caller calls in one session again "
        "and again, or in each of them in turn. Times in milliseconds; `CPU` is of the relay and "
        "its Redis."
    )
    return "\n\n".join((facts(), head, "\n".join(rows)))


def _called(times: Times) -> str:
    p50, p99 = (times.percentile(share) * 1000 for share in (0.5, 0.99))
    return f"{p50:.2f} | {p99:.1f} | {times.cpu * 1000 / len(times.each):.2f}"
