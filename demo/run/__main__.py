"""`python -m demo.run`, which is `make run`."""

import io
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from demo.run.binaries import BinaryMissing
from demo.run.folder import FolderUnusable
from demo.run.screen import Screen
from demo.run.settings import Settings, load
from demo.run.stack import Interrupted, PartFailed, PortTaken, Stack
from shared.settings import SettingsWrong

_WATCH_SECONDS = 0.1


class Wanted:
    """True until somebody asks for the end: Ctrl-C, SIGTERM, or the terminal is closed."""

    def __init__(self) -> None:
        self._wanted = True
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` sets it
                signal.signal(number, self._asked)

    def _asked(self, number: int, frame: FrameType | None) -> None:
        self._wanted = False

    def __call__(self) -> bool:
        return self._wanted


class Followed:
    """The logs on the screen as well, for VERBOSE=1."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._read: dict[Path, int] = {}

    def show(self, stack: Stack) -> None:
        """What was written since the last time, in whole lines."""
        for name in stack.names:
            path = stack.child(name).log
            with path.open("rb") as file:
                file.seek(self._read.get(path, 0))
                whole, newline, _ = file.read().rpartition(b"\n")
            self._read[path] = self._read.get(path, 0) + len(whole + newline)
            self._screen.lines(name, whole.decode(errors="replace"))


def watch(stack: Stack, wanted: Wanted, screen: Screen) -> None:
    """Until the end is asked for. Raises `PartFailed` when a process ends by itself."""
    followed = Followed(screen) if stack.settings.verbose else None
    while wanted():
        if followed:
            followed.show(stack)
        stack.check()
        time.sleep(_WATCH_SECONDS)
    screen.ending()


def run(settings: Settings, wanted: Wanted, screen: Screen) -> int:
    """The exit status: 0 after Ctrl-C, 1 when something went wrong, which is on the screen."""
    try:
        with Stack(settings, wanted) as stack:
            screen.ready(stack)
            watch(stack, wanted, screen)
    except Interrupted:
        return 0
    except PortTaken as error:
        screen.port_taken(error, settings.port)
    except PartFailed as error:
        screen.failed(error)
    except (BinaryMissing, FolderUnusable, SettingsWrong, OSError) as error:
        screen.refused(str(error))
    else:
        return 0
    return 1


def main() -> int:
    """Entry point; returns the exit status."""
    wanted = Wanted()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a name in a configuration can be in any script
    screen = Screen()
    try:
        settings = load(os.environ)
    except SettingsWrong as error:
        screen.refused(str(error))
        return 1
    screen.starting()
    return run(settings, wanted, screen)


if __name__ == "__main__":
    sys.exit(main())
