"""Processor time and memory of another process of ours: from /proc, elsewhere from `ps`."""

import subprocess
from pathlib import Path

_PROC = Path("/proc")


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


def _ps(pid: int, column: str) -> str:
    command = ["ps", "-o", f"{column}=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
