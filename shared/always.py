"""What runs for as long as a service does."""

import asyncio
from collections.abc import Awaitable, Callable

from shared import log

_AGAIN_SECONDS = 1.0


async def always(run: Callable[[], Awaitable[None]]) -> None:
    """Run it for ever. A mistake in it is logged, and it begins again: it must not end unseen."""
    while True:
        try:
            await run()
        except Exception:
            log.failure("background-failed")
        if called_off():
            return  # something went wrong on the way out: that is no reason to begin again
        await asyncio.sleep(_AGAIN_SECONDS)


def called_off() -> bool:
    """Whether whoever runs this has been cancelled, though another error came in its place."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
