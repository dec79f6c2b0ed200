"""Requests in a session, and how their caller calls them off.

In 2025-11-25 and before, a caller that hangs up has not called anything off
(basic/utilities/cancellation): only `notifications/cancelled` does. It comes on a connection of its
own: to another replica than its request, maybe, and before it.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from services.relay.changes.between import Between
from services.relay.messages import rpc

T = TypeVar("T")
METHOD = "notifications/cancelled"
EARLY_SECONDS = 2.0
_MOST_EARLY = 1000
_LONGEST_ID = 256  # of what is kept, and told to all replicas

Place = tuple[str, rpc.Id]
CallOff = Callable[[], object]


class CalledOff(Exception):
    """The caller wants no answer any more."""


class Running:
    """By session and request id. One id names one request at a time, as the protocol has it."""

    def __init__(self, between: Between) -> None:
        self._between = between
        self._requests: dict[Place, CallOff] = {}
        # called off before they came, and when: the oldest first
        self._early: OrderedDict[Place, float] = OrderedDict()
        self._kept: set[asyncio.Task[Any]] = set()
        between.on("called-off", lambda what: self._call_off((what["session"], what["id"])))

    async def run(self, session: str, request_id: rpc.Id, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns. Raises `CalledOff`.

        When the caller hangs up, the work goes on to its end.
        """
        place, task = (session, request_id), asyncio.create_task(work)
        self._requests[place] = call_off = task.cancel
        self._kept.add(task)
        task.add_done_callback(lambda done: self._ended(place, call_off, done))
        if self._is_early(place):
            task.cancel()
        await asyncio.wait([task])
        if task.cancelled():
            raise CalledOff
        return task.result()

    @contextmanager
    def passing(self, session: str, request_id: rpc.Id) -> Iterator[Callable[[], None]]:
        """Around a request that its server is to be sent; gives what is to be done just before.

        Until then it is called off here. Raises `CalledOff`. From then on its server ends it, which
        gets the caller's own word.
        """
        place, task = (session, request_id), asyncio.current_task()
        assert task is not None
        before, is_sent, is_off = task.cancelling(), False, False

        def send() -> None:
            nonlocal is_sent
            is_sent = True

        def call_off() -> None:
            nonlocal is_off
            if not (is_sent or is_off):
                is_off = task.cancel()

        if self._is_early(place):
            raise CalledOff
        self._requests[place] = call_off
        try:
            yield send
        except asyncio.CancelledError:
            # unless somebody else ends it besides
            if is_off and task.uncancel() <= before:
                raise CalledOff from None
            raise
        finally:
            self._forget(place, call_off)

    async def call_off(self, session: str, message: rpc.Message) -> None:
        """`notifications/cancelled` came: end that request, at whichever replica it is."""
        request_id = message.get("params", {}).get("requestId")
        if _is_kept(request_id):
            await self._between.tell("called-off", session=session, id=request_id)

    def close(self) -> None:
        """Nobody who stops waits for what is still at work."""
        for task in self._kept:
            task.cancel()

    def _call_off(self, place: Place) -> None:
        if place in self._requests:
            self._requests[place]()
            return
        # it has ended, or is at another replica, or is on its way here
        self._early[place] = time.monotonic()
        self._early.move_to_end(place)
        if len(self._early) > _MOST_EARLY:
            self._early.popitem(last=False)

    def _is_early(self, place: Place) -> bool:
        """Whether it was called off before it came. That is said once: an id may come again."""
        since = self._early.pop(place, None) if self._early else None
        return since is not None and since >= time.monotonic() - EARLY_SECONDS

    def _forget(self, place: Place, call_off: CallOff) -> None:
        if self._requests.get(place) is call_off:
            del self._requests[place]

    def _ended(self, place: Place, call_off: CallOff, task: asyncio.Task[Any]) -> None:
        self._kept.discard(task)
        self._forget(place, call_off)
        if not task.cancelled():
            task.exception()  # its caller may have left


def _is_kept(request_id: Any) -> bool:
    if isinstance(request_id, str):
        return len(request_id) <= _LONGEST_ID
    return type(request_id) is int and request_id.bit_length() <= _LONGEST_ID
