"""Where an answer of a caller meets the call that waits for it, at whatever replica each is.

A question is known by a random id and belongs to one session: the same id in another session is
another question, which nobody asked. The first answer counts. What lies in Redis is sealed, and
there only while somebody waits; the word between the replicas says that something lies there, and
may get lost.
"""

import asyncio
import contextlib

from mcp_types.jsonrpc import INTERNAL_ERROR

from services.relay import rpc
from services.relay.between import Between
from shared import ids, keys
from shared.clock import Clock
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue, StoreUnavailable

MAX_ANSWER_BYTES = 1024 * 1024  # Redis is small, and when it is full nobody gets in
_FETCH_SECONDS = 60  # how long an answer lies there: who waits looks every few seconds
_ANSWERED = "answered"


class Waiting:
    """One question, until it is answered or forgotten. `id`: of the request to the caller."""

    def __init__(self, key: str, question_id: str) -> None:
        self.key = key
        self.id = question_id
        self.answer: asyncio.Future[rpc.Message] = asyncio.get_running_loop().create_future()


class Rendezvous:
    """`place`: a session's key. Methods may raise `StoreUnavailable` unless they say otherwise."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock, between: Between) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._between = between
        self._waiting: dict[str, Waiting] = {}
        self._looking: set[asyncio.Task[None]] = set()
        between.on(_ANSWERED, lambda what: self._look_soon(what["question"]))

    async def expect(self, place: str, seconds: int) -> Waiting:
        """A new question to this session, which may be answered from now on."""
        question_id = f"strad-{ids.new_id()}"
        waiting = Waiting(self._key(place, question_id), question_id)
        marker = self._seal.seal(waiting.key, {}, self._clock() + seconds)
        self._waiting[waiting.key] = waiting
        try:
            await self._store.put(waiting.key, marker, seconds)
        except StoreUnavailable:
            del self._waiting[waiting.key]
            raise
        return waiting

    async def forget(self, questions: list[Waiting]) -> None:
        """Nobody waits for these any more. Raises nothing: what is left over ends by itself."""
        found = [self._waiting.pop(one.key).key for one in questions if one.key in self._waiting]
        if found:
            with contextlib.suppress(StoreUnavailable):
                await self._store.remove(*found, *map(_place_of_answer, found))

    async def arrived(self, place: str, message: rpc.Message) -> None:
        """A caller has sent a response: to a question of ours, or to nothing."""
        if not isinstance(message["id"], str):
            return
        key = self._key(place, message["id"])
        answer: rpc.Message = {
            name: message[name] for name in ("result", "error") if name in message
        }
        raw = rpc.dumps(answer)
        if len(raw) > MAX_ANSWER_BYTES:
            text = f"The answer is larger than {MAX_ANSWER_BYTES // 1024} KiB."
            answer = rpc.failure(INTERNAL_ERROR, text)
            raw = rpc.dumps(answer)
        if key in self._waiting:
            self._settle(key, answer)
        elif await self._is_expected(key):
            await self._leave(key, raw)

    async def look(self, questions: list[Waiting]) -> None:
        """See whether answers lie there. Raises nothing: they may come another way."""
        with contextlib.suppress(StoreUnavailable):
            for one in questions:
                await self._fetch(one.key)

    async def _is_expected(self, key: str) -> bool:
        marker = await self._store.get(key)
        try:
            return marker is not None and self._seal.open(key, marker, self._clock()) == {}
        except SealBroken:
            return False

    async def _leave(self, key: str, raw: bytes) -> None:
        where, end = _place_of_answer(key), self._clock() + _FETCH_SECONDS
        sealed = self._seal.seal(where, {"answer": raw.decode()}, end)
        if await self._store.add(where, sealed, _FETCH_SECONDS):
            with contextlib.suppress(StoreUnavailable):
                await self._between.tell(_ANSWERED, question=key)

    def _look_soon(self, key: str) -> None:
        if key in self._waiting:
            task = asyncio.create_task(self.look([self._waiting[key]]))
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    async def _fetch(self, key: str) -> None:
        where = _place_of_answer(key)
        sealed = await self._store.get(where)
        if sealed is None:
            return
        try:
            record = self._seal.open(where, sealed, self._clock())
        except SealBroken:
            return
        self._settle(key, rpc.loads(record["answer"].encode()))

    def _settle(self, key: str, answer: rpc.Message) -> None:
        waiting = self._waiting.get(key)
        if waiting is not None and not waiting.answer.done():
            waiting.answer.set_result(answer)

    def _key(self, place: str, question_id: str) -> str:
        return keys.QUESTION.key(self._seal.digest("question", f"{place}\0{question_id}"))


def _place_of_answer(key: str) -> str:
    return f"{key}:answer"
