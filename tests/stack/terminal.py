"""`make run` as a person starts it: in a terminal, or with a file for a screen."""

import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from demo.run.child import inherited
from demo.run.settings import ROOT
from tests.until import until

READY = "Ctrl-C ends it."
SECONDS = 60.0
_OURS = ("PORT", "STRAD_CONFIG", "STRAD_DATA", "VERBOSE", "NO_COLOR", "TERM")
# a session of its own with the terminal on standard input, as a shell starts it; then the command
_IN_TERMINAL = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    " os.execv(sys.executable, [sys.executable, '-m', 'demo.run'])"
)


class Run:
    """A run under way."""

    def __init__(self, process: subprocess.Popen[bytes], screen: Path, keyboard: int = -1) -> None:
        self.process = process
        self._screen = screen
        self._keyboard = keyboard
        self._seen: list[int] = []

    @property
    def painted(self) -> str:
        """All that it has shown, colours and all."""
        self._read_terminal()
        return self._screen.read_text(errors="replace")

    @property
    def screen(self) -> str:
        """The same in plain text."""
        return re.sub(r"\033\[\d*m", "", self.painted)

    def ready(self) -> "Run":
        """Wait until the screen is complete."""
        assert until(lambda: READY in self.screen or self.process.poll() is not None, SECONDS)
        assert READY in self.screen, self.screen
        return self

    def press(self, key: bytes) -> None:
        """Type into its terminal."""
        os.write(self._keyboard, key)

    def ended(self) -> int:
        """Wait for its end; the exit status."""
        assert until(lambda: self._ended() is not None, SECONDS), self.screen
        return self.process.returncode

    def _ended(self) -> int | None:
        self._read_terminal()  # a full terminal would hold it up
        return self.process.poll()

    @property
    def folder(self) -> Path:
        """The data folder that the screen names."""
        found = re.search(r"Data +(/\S+)", self.screen)
        assert found, self.screen
        return Path(found[1])

    def processes(self, like: str = "") -> list[int]:
        """Every process that came from it, and itself; only those whose command is like that."""
        table = {}
        for line in _ps("-A", "-o", "pid=,ppid=,args="):
            number, parent, command = line.split(maxsplit=2)
            table[int(number)] = (int(parent), command)
        found = []
        for pid in sorted(table):
            ancestor = pid
            while ancestor in table and ancestor != self.process.pid:
                ancestor = table[ancestor][0]
            if ancestor == self.process.pid and like in table[pid][1]:
                found.append(pid)
        self._seen = self._seen or found
        return found

    def _read_terminal(self) -> None:
        if self._keyboard < 0:
            return
        with suppress(BlockingIOError, OSError), self._screen.open("ab") as file:
            while chunk := os.read(self._keyboard, 65536):
                file.write(chunk.replace(b"\r\n", b"\n"))

    def hang_up(self) -> None:
        """Close the terminal's window."""
        os.close(self._keyboard)
        self._keyboard = -1

    def close(self) -> None:
        """End it if the test did not."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(30)
        self.process.kill()
        self.process.wait()
        for pid in alive(self._seen) if self._seen else ():  # only after a test that failed
            os.kill(pid, signal.SIGKILL)
        if self._keyboard >= 0:
            self.hang_up()


def alive(pids: list[int]) -> list[int]:
    """Those that are there; one that has ended and was not yet fetched by its parent is not."""
    lines = _ps("-o", "pid=,stat=", "-p", ",".join(map(str, pids)))
    found = [line.split() for line in lines]
    return [int(pid) for pid, state in found if not state.startswith("Z")]


def _ps(*arguments: str) -> list[str]:
    # -ww: whole commands, also where COLUMNS says how wide a screen is
    found = subprocess.run(["ps", "-ww", *arguments], capture_output=True, text=True, check=False)
    return found.stdout.splitlines()


@contextmanager
def run(folder: Path, port: int, *, terminal: bool = False, **variables: str) -> Iterator[Run]:
    """`PORT=port make run`, with further variables. Its screen is kept in `folder`."""
    screen = folder / "screen"
    screen.touch()
    environ = {**inherited(_OURS), "PORT": str(port), "TERM": "xterm", **variables}
    found = _in_terminal(screen, environ) if terminal else _in_file(screen, environ)
    try:
        yield found
    finally:
        found.close()


def _in_file(screen: Path, environ: Mapping[str, str]) -> Run:
    with screen.open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "demo.run"],
            cwd=ROOT,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Run(process, screen)


def _in_terminal(screen: Path, environ: Mapping[str, str]) -> Run:
    keyboard, inner = os.openpty()
    os.set_blocking(keyboard, False)
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", _IN_TERMINAL],
        cwd=ROOT,
        env=environ,
        stdin=inner,
        stdout=inner,
        stderr=inner,
    )
    os.close(inner)
    return Run(process, screen, keyboard)
