"""Waiting for something that happens by itself."""

import time
from collections.abc import Callable
from urllib.request import urlopen

_POLL_SECONDS = 0.02


def until(true: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether it becomes true within so many seconds."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def answers(url: str) -> None:
    """Wait until something answers there, 20 s at most; then raises what it last said."""
    deadline = time.monotonic() + 20
    while True:
        try:
            with urlopen(url, timeout=1):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
