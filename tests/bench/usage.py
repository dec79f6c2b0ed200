"""Processor time and memory of another process of ours: from /proc, elsewhere from `ps`."""

import subprocess
from pathlib import Path

_PROC = Path("/proc")
_OWN = ("Private_Clean:", "Private_Dirty:")


def cpu_seconds(pid: int) -> float:
    """Processor time that all threads of a process have used, in seconds."""
    tasks = list((_PROC / str(pid) / "task").glob("*/schedstat"))
    if tasks:
        # nanoseconds on a processor come first; utime and stime count in steps of 10 ms
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9
    hours_minutes, _, seconds = _ps(pid, "time").rpartition(":")
    minutes = 0
    for part in hours_minutes.split(":"):
        minutes = minutes * 60 + int(part)
    return minutes * 60 + float(seconds)


def resident_mib(pid: int) -> float:
    """Resident memory (RSS) in MiB. Pages that processes share count for each of them."""
    status = _PROC / str(pid) / "status"
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024
    return int(_ps(pid, "rss")) / 1024


def family(pid: int) -> list[int]:
    """A process and all that it has started, itself first."""
    done = subprocess.run(["ps", "-Ao", "pid=,ppid="], capture_output=True, text=True, check=True)
    children: dict[int, list[int]] = {}
    for line in done.stdout.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def family_mib(pid: int) -> float:
    """Resident memory of a process and all that it has started, in MiB.

    Of a child only what is its own, where /proc tells that: most of its pages are its parent's too.
    """
    first, *others = family(pid)
    return resident_mib(first) + sum(map(_own_mib, others))


def _own_mib(pid: int) -> float:
    rollup = _PROC / str(pid) / "smaps_rollup"
    if not rollup.exists():
        return resident_mib(pid)
    lines = [line.split() for line in rollup.read_text().splitlines()]
    return sum(int(line[1]) for line in lines if line[0] in _OWN) / 1024


def _ps(pid: int, column: str) -> str:
    command = ["ps", "-o", f"{column}=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
