"""Requests that the relay answers itself in a session, and how their caller calls them off.

In 2025-11-25 and before, a caller that hangs up has not called anything off
(basic/utilities/cancellation): only `notifications/cancelled` does, wherever it arrives.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from services.relay.changes.between import Between
from services.relay.messages import rpc

T = TypeVar("T")
METHOD = "notifications/cancelled"


class CalledOff(Exception):
    """The caller wants no answer any more."""


class Running:
    """By session and request id. One id names one request at a time, as the protocol has it."""

    def __init__(self, between: Between) -> None:
        self._between = between
        self._tasks: dict[tuple[str, rpc.Id], asyncio.Task[Any]] = {}
        self._kept: set[asyncio.Task[Any]] = set()
        between.on("called-off", lambda what: self._call_off(what["session"], what["id"]))

    async def run(self, session: str, request_id: rpc.Id, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns. Raises `CalledOff`.

        When the caller hangs up, the work goes on to its end.
        """
        task = asyncio.create_task(work)
        place = (session, request_id)
        self._tasks[place] = task
        self._kept.add(task)
        task.add_done_callback(lambda done: self._ended(place, done))
        await asyncio.wait([task])
        if task.cancelled():
            raise CalledOff
        return task.result()

    async def call_off(self, session: str, message: rpc.Message) -> None:
        """`notifications/cancelled` came: end that request, at whichever replica it is."""
        request_id = message.get("params", {}).get("requestId")
        if isinstance(request_id, str | int) and not isinstance(request_id, bool):
            await self._between.tell("called-off", session=session, id=request_id)

    def close(self) -> None:
        """Nobody who stops waits for what is still at work."""
        for task in self._kept:
            task.cancel()

    def _call_off(self, session: str, request_id: rpc.Id) -> None:
        task = self._tasks.get((session, request_id))
        if task is not None:
            task.cancel()

    def _ended(self, place: tuple[str, rpc.Id], task: asyncio.Task[Any]) -> None:
        self._kept.discard(task)
        if self._tasks.get(place) is task:
            del self._tasks[place]
        if not task.cancelled():
            task.exception()  # its caller may have left
