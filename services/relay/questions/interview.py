"""A call that a server of 2026-07-28 answers with questions, for a caller of a version before.

The questions become requests in the stream of the caller's own call; the answers arrive as posts
of their own (`rendezvous.py`); then the call is made again with them, as a caller of 2026-07-28
does itself.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp_types.jsonrpc import INTERNAL_ERROR
from mcp_types.methods import is_input_required

from services.relay.messages import rpc
from services.relay.messages.out import Out
from services.relay.messages.streams import event_of
from services.relay.questions import askable
from services.relay.questions.people import ANSWERS
from services.relay.questions.rendezvous import Rendezvous, Waiting
from services.relay.questions.states import LIFE_SECONDS, MEMBER
from services.relay.servers.hello import Hello

MAX_ROUNDS = 10
MAX_QUESTIONS = 32
LOOK_SECONDS = 2.0
ROUND_SECONDS = LIFE_SECONDS - 10  # the call is repeated while its state is still believed
KEEP_SECONDS = 15.0  # a stream in which nothing passes for long is closed by many a proxy
_PAUSE_SECONDS = 0.05  # before a call is repeated that only brought a state; doubled each time
_LONGEST_PAUSE_SECONDS = 0.25
_HUNG_UP = "The caller hung up."

Ask = Callable[[Hello, rpc.Message], Awaitable[rpc.Message]]
"""Asks the server, which is told this of the caller."""


class _Unanswered(Exception):
    """The call ends here; `outcome` holds the error that its caller hears."""

    def __init__(self, outcome: rpc.Message) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Caller:
    """Who can be asked: in which session, version and stream, and for how long in all.

    `hello`: what servers are told of it. `still`: whether its session lasts.
    """

    place: str
    version: str
    hello: Hello
    out: Out
    still: Callable[[], Awaitable[bool]]
    seconds: int


class Interview:
    """For one call of one caller."""

    def __init__(self, rendezvous: Rendezvous, caller: Caller) -> None:
        self._rendezvous = rendezvous
        self._caller = caller
        loop = asyncio.get_running_loop()
        self._left: asyncio.Future[None] = loop.create_future()
        self._clock = loop.time
        self._end = self._until = loop.time() + caller.seconds
        self._keep_at = loop.time() + KEEP_SECONDS

    def hung_up(self) -> None:
        """The caller's stream has gone: nobody hears a question, and nobody gets the answer."""
        if not self._left.done():
            self._left.set_result(None)

    async def complete(self, ask: Ask, params: rpc.Message) -> rpc.Message:
        """The outcome of a call, `result` or `error`, when all is answered that it asks."""
        # in the caller's version these two mean nothing: it cannot have been asked
        call = {key: value for key, value in params.items() if key not in (ANSWERS, MEMBER)}
        outcome, pause = await ask(self._caller.hello, call), _PAUSE_SECONDS
        for _ in range(MAX_ROUNDS):
            result = outcome.get("result")
            if not is_input_required(result):
                return outcome
            given = rpc.Message(result)
            again = dict(call)
            if given.get("inputRequests"):
                try:
                    again[ANSWERS] = await self._round(given["inputRequests"])
                except _Unanswered as ended:
                    return ended.outcome
            elif MEMBER not in given:
                return _failure("The server asks for something, and does not say for what.")
            else:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            if MEMBER in given:
                again[MEMBER] = given[MEMBER]
            outcome = await ask(self._caller.hello, again)
        if is_input_required(outcome.get("result")):
            return _failure(f"The server asks for more after {MAX_ROUNDS} rounds.")
        return outcome

    async def _round(self, requests: Any) -> rpc.Message:
        if self._left.done():
            raise _Unanswered(_failure(_HUNG_UP))
        asked = self._questions(requests)
        self._until = min(self._end, self._clock() + ROUND_SECONDS)
        waiting: dict[str, Waiting] = {}
        try:
            for key, question in asked.items():
                waiting[key] = await self._rendezvous.expect(self._caller.place, self._seconds())
                await self._say({"id": waiting[key].id, **question})
            return await self._answers(asked, waiting)
        finally:
            await self._withdraw(list(waiting.values()))

    def _questions(self, requests: Any) -> dict[str, rpc.Message]:
        if not isinstance(requests, dict) or len(requests) > MAX_QUESTIONS:
            raise _Unanswered(_failure("The server asks for too much at once."))
        asked: dict[str, rpc.Message] = {}
        for key, request in requests.items():
            question = askable.question(self._caller.hello, self._caller.version, request)
            if question is None:
                text = "The server asks for something that this caller cannot be asked."
                raise _Unanswered(_failure(text))
            asked[key] = question
        return asked

    async def _answers(
        self, asked: dict[str, rpc.Message], waiting: dict[str, Waiting]
    ) -> rpc.Message:
        found: rpc.Message = {}
        while len(found) < len(asked):
            open_ones = [one for key, one in waiting.items() if key not in found]
            await self._wait(open_ones)
            for key, one in waiting.items():
                if key not in found and one.answer.done():
                    found[key] = _answer_of(asked[key], one.answer.result())
        return found

    async def _wait(self, open_ones: list[Waiting]) -> None:
        """Return when one is answered, or after a while."""
        now = self._clock()
        if now >= self._until:
            raise _Unanswered(_failure("Nobody answered the server's question in time."))
        if now >= self._keep_at:
            if not await self._caller.still():
                raise _Unanswered(_failure("The session has ended."))
            self._keep_at = now + KEEP_SECONDS
            await self._caller.out.write(b": waiting\n\n")
        seconds = min(LOOK_SECONDS, self._until - now)
        futures: set[asyncio.Future[Any]] = {self._left, *(one.answer for one in open_ones)}
        done, _ = await asyncio.wait(futures, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if self._left in done or self._caller.out.left:
            raise _Unanswered(_failure(_HUNG_UP))
        if not done:
            await self._rendezvous.look(open_ones)

    async def _withdraw(self, waiting: list[Waiting]) -> None:
        """Tell the caller which of the questions it need not answer any more."""
        try:
            for one in waiting:
                if not one.answer.done():
                    params = {"requestId": one.id, "reason": "the call has ended"}
                    await self._say({"method": "notifications/cancelled", "params": params})
        finally:
            await self._rendezvous.forget(waiting)

    async def _say(self, message: rpc.Message) -> None:
        await self._caller.out.write(event_of(rpc.dumps({"jsonrpc": "2.0", **message})))

    def _seconds(self) -> int:
        return max(1, int(self._until - self._clock()) + 1)


def _answer_of(question: rpc.Message, answer: rpc.Message) -> rpc.Message:
    """What the server hears. Raises `_Unanswered`."""
    if isinstance(answer.get("result"), dict):
        result: rpc.Message = answer["result"]
        return result
    if question["method"] == askable.ELICIT:
        return {"action": "cancel"}  # dismissed without a choice: the tool can end in order
    # there is no way to say no to the others: the call ends as the caller's refusal says
    error = answer.get("error")
    if isinstance(error, dict) and _is_code(error.get("code")):
        raise _Unanswered(rpc.failure(error["code"], str(error.get("message", ""))[:1000]))
    raise _Unanswered(_failure("The caller's answer to the server's question is none."))


def _is_code(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _failure(text: str) -> rpc.Message:
    return rpc.failure(INTERNAL_ERROR, text)
