"""Where an answer of a caller meets the call that waits for it, at whatever replica each is.

A question is known by a random id and belongs to one session: the same id in another session is
another question, which nobody asked. The first answer counts. What lies in Redis is sealed, and
there only while somebody waits; the word between the replicas says that something lies there, and
may get lost.
"""

import asyncio
import contextlib

from mcp_types.jsonrpc import INTERNAL_ERROR

from services.relay.changes.between import Between
from services.relay.messages import rpc
from shared import ids, keys
from shared.clock import Clock
from shared.signing import Seal, SealBroken
from shared.stores.kv import KeyValue, StoreUnavailable

MAX_ANSWER_BYTES = 1024 * 1024  # Redis is small, and when it is full nobody gets in
_FETCH_SECONDS = 60  # how long an answer lies there: who waits looks every few seconds
_WORD = "answered"


class Waiting:
    """One question, until it is answered or forgotten. `id`: of the request to the caller."""

    def __init__(self, digest: str, question_id: str) -> None:
        self.digest = digest
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
        between.on(_WORD, lambda what: self._look_soon(what["question"]))

    async def expect(self, place: str, seconds: int) -> Waiting:
        """A new question to this session, which may be answered from now on."""
        question_id = f"strad-{ids.new_id()}"
        waiting = Waiting(self._digest(place, question_id), question_id)
        key = _asked(waiting.digest)
        marker = self._seal.seal(key, {}, self._clock() + seconds)
        self._waiting[waiting.digest] = waiting
        try:
            await self._store.put(key, marker, seconds)
        except BaseException:  # also when its call is called off meanwhile
            del self._waiting[waiting.digest]
            raise
        return waiting

    async def forget(self, questions: list[Waiting]) -> None:
        """Nobody waits for these any more. Raises nothing: what is left over ends by itself."""
        left: list[str] = []
        for one in questions:
            self._waiting.pop(one.digest, None)
            left += [_asked(one.digest), _answered(one.digest)]
        if left:
            with contextlib.suppress(StoreUnavailable):
                await self._store.remove(*left)

    async def arrived(self, place: str, message: rpc.Message) -> None:
        """A caller has sent a response: to a question of ours, or to nothing."""
        if not isinstance(message["id"], str):
            return
        digest = self._digest(place, message["id"])
        answer: rpc.Message = {
            name: message[name] for name in ("result", "error") if name in message
        }
        raw = rpc.dumps(answer)
        if len(raw) > MAX_ANSWER_BYTES:
            text = f"The answer is larger than {MAX_ANSWER_BYTES // 1024} KiB."
            answer = rpc.failure(INTERNAL_ERROR, text)
            raw = rpc.dumps(answer)
        if digest in self._waiting:
            self._settle(digest, answer)
        elif await self._is_expected(digest):
            await self._leave(digest, raw)

    async def look(self, questions: list[Waiting]) -> None:
        """See whether answers lie there. Raises nothing: they may come another way."""
        with contextlib.suppress(StoreUnavailable):
            for one in questions:
                await self._fetch(one.digest)

    async def _is_expected(self, digest: str) -> bool:
        key = _asked(digest)
        marker = await self._store.get(key)
        try:
            return marker is not None and self._seal.open(key, marker, self._clock()) == {}
        except SealBroken:
            return False

    async def _leave(self, digest: str, raw: bytes) -> None:
        key, end = _answered(digest), self._clock() + _FETCH_SECONDS
        sealed = self._seal.seal(key, {"answer": raw.decode()}, end)
        if await self._store.add(key, sealed, _FETCH_SECONDS):
            with contextlib.suppress(StoreUnavailable):
                await self._between.tell(_WORD, question=digest)

    def _look_soon(self, digest: str) -> None:
        if digest in self._waiting:
            task = asyncio.create_task(self.look([self._waiting[digest]]))
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    async def _fetch(self, digest: str) -> None:
        key = _answered(digest)
        sealed = await self._store.get(key)
        if sealed is None:
            return
        try:
            record = self._seal.open(key, sealed, self._clock())
        except SealBroken:
            return
        self._settle(digest, rpc.loads(record["answer"].encode()))

    def _settle(self, digest: str, answer: rpc.Message) -> None:
        waiting = self._waiting.get(digest)
        if waiting is not None and not waiting.answer.done():
            waiting.answer.set_result(answer)

    def _digest(self, place: str, question_id: str) -> str:
        return self._seal.digest("question", f"{place}\0{question_id}")


def _asked(digest: str) -> str:
    return keys.QUESTION.key(digest)


def _answered(digest: str) -> str:
    return keys.QUESTION.key(digest, "answer")
