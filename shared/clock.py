"""The clock as a value that is passed in, so that tests can turn it."""

import time
from collections.abc import Callable

Clock = Callable[[], float]
"""Returns Unix seconds."""

system_clock: Clock = time.time
