"""Waiting for something that happens by itself."""

import time
from collections.abc import Callable

_POLL_SECONDS = 0.02


def until(true: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether it becomes true within so many seconds."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
