"""How long `make run` takes to be ready, and how much memory its services hold."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from demo.run.child import inherited
from demo.run.ports import free_ports
from demo.run.settings import ROOT, Settings
from demo.run.stack import Stack
from tests.bench.caller import Call, Era
from tests.bench.usage import resident_mib
from tests.peers.lone_relay import issue_token

READY_SECONDS = 120.0
END_SECONDS = 20.0
CALLERS = 32


class NotReady(Exception):
    """`make run` said nothing in time, or ended. The message holds what it wrote."""


@dataclass(frozen=True)
class Startup:
    """`ready`: seconds from the command to its screen. `memory`: MiB by part, at rest and after."""

    ready: float
    memory: dict[str, tuple[float, float]]
    calls: int


async def measure(folder: Path, times: int, calls: int, say: Callable[[str], None]) -> Startup:
    """Start it `times` times; then once more, look at its memory, and call through its edge."""
    say("starting the whole stack")
    ready = median(seconds_to_ready(folder / f"run-{number}.log") for number in range(times))
    (port,) = free_ports(1, in_a_row=2)
    say("memory of the whole stack")
    with Stack(Settings(port=port)) as stack:
        before = _memory(stack)
        token = await issue_token(
            f"redis://127.0.0.1:{stack.redis_port}/0", stack.folder.keys / "auth"
        )
        call = Call(
            url=f"{stack.url}/mcp/catalog",
            era=Era.MODERN,
            headers={"Authorization": f"Bearer {token}"},
            tool="list_toys",
            arguments={},
            expect=b'"structuredContent"',
        )
        await call.measure(CALLERS, calls)
        after = _memory(stack)
    return Startup(ready, {name: (before[name], after[name]) for name in before}, calls)


def seconds_to_ready(log: Path) -> float:
    """One start of the command, to the moment its screen shows the address; then its end."""
    (port,) = free_ports(1, in_a_row=2)
    started = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "demo.run"],
            cwd=ROOT,
            env={
                **inherited(("STRAD_CONFIG", "STRAD_DATA", "VERBOSE")),
                "PORT": str(port),
                "PYTHONUNBUFFERED": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        address = f"http://127.0.0.1:{port}/mcp".encode()
        while address not in log.read_bytes():
            if process.poll() is not None or time.monotonic() - started > READY_SECONDS:
                raise NotReady(log.read_text(errors="replace"))
            time.sleep(0.01)
        return time.monotonic() - started
    finally:
        process.terminate()
        process.wait(END_SECONDS)


def _memory(stack: Stack) -> dict[str, float]:
    return {name: resident_mib(stack.child(name).pid) for name in stack.names}
