"""One process of the stack, started into the guard's group, its output in a log file; the guard."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

TAIL_LINES = 15


class Child:
    """A named process. `group`: the process group that it joins; 0 makes one of its own."""

    def __init__(self, name: str, log: Path, group: int = 0) -> None:
        self.name = name
        self.log = log
        self._group = group
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        """Start it in a working folder; what it writes is added to the log."""
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(  # noqa: S603 - our own commands, no shell
                command,
                env=dict(environment),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                process_group=self._group,
            )

    @property
    def pid(self) -> int:
        """Its process id, also after its end. 0: never started."""
        return self._process.pid if self._process else 0

    @property
    def running(self) -> bool:
        """Whether it is there."""
        return self._process is not None and self._process.poll() is None

    def signal(self, number: int) -> None:
        """Send a signal; nothing happens when it has ended."""
        if self._process is not None:
            self._process.send_signal(number)

    def ended(self, seconds: float) -> bool:
        """Wait for its end, at most so long; whether it has ended."""
        try:
            if self._process is not None:
                self._process.wait(timeout=max(0.0, seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """End it at once."""
        self.signal(signal.SIGKILL)
        self.ended(5)

    @property
    def exit_status(self) -> str:
        """How it ended, in words."""
        code = self._process.poll() if self._process else None
        if code is None:
            return "still running"
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"

    def tail(self, lines: int = TAIL_LINES) -> str:
        """The last lines that it wrote."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def inherited(without: Sequence[str] = ()) -> dict[str, str]:
    """This process's environment without some variables and their NAME_FILE forms."""
    gone = {*without, *(f"{name}_FILE" for name in without)}
    return {name: value for name, value in os.environ.items() if name not in gone}


def start_guard(folder: Path | None) -> subprocess.Popen[bytes]:
    """The guard, on duty before anything else starts. `folder`: what it removes at the end."""
    script = Path(__file__).parent / "guard.py"
    guard = subprocess.Popen(  # noqa: S603 - our own script, no shell
        [sys.executable, "-I", "-S", str(script), str(folder or "")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        process_group=0,
    )
    assert guard.stdout is not None
    guard.stdout.readline()
    return guard
