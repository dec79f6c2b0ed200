"""One more process beside the stack: started, awaited, and ended with its test."""

import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from demo.run.child import Child, inherited
from demo.run.ready import Probe
from demo.run.settings import ROOT

START_SECONDS = 30.0
END_SECONDS = 10.0
_POLL_SECONDS = 0.05


class NotStarted(Exception):
    """It ended, or was not ready in time. The message holds the last lines that it wrote."""


@contextmanager
def running(
    command: Sequence[str],
    log: Path,
    ready: Probe,
    variables: Mapping[str, str],
    folder: Path = ROOT,
    seconds: float = START_SECONDS,
) -> Iterator[Child]:
    """A process that is ready. `variables` come on top of this process's own environment.

    `folder`: where it works. `seconds`: in which it must be ready.
    """
    child = Child(log.stem, log)
    child.start(command, {**inherited(), **variables}, folder)
    try:
        _wait(child, ready, seconds)
        yield child
    finally:
        child.signal(signal.SIGTERM)
        if not child.ended(END_SECONDS):
            child.kill()


def _wait(child: Child, ready: Probe, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if not child.running or time.monotonic() > deadline:
            raise NotStarted(f"{child.name}: {child.exit_status}\n{child.tail()}")
        time.sleep(_POLL_SECONDS)
