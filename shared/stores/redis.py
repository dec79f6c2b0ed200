"""`KeyValue` on Redis or Valkey, over redis-py's asyncio client (RESP3)."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Collection, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from shared.always import called_off
from shared.stores.kv import StoreUnavailable
from shared.stores.link import Batch, packed
from shared.stores.pipe import Pipe

T = TypeVar("T")

TIMEOUT_SECONDS = 1.0
_HEAR_AGAIN_SECONDS = 0.5
_HEAR_SECONDS = 5.0


def connect(url: str, user: str, password: str) -> "RedisKeyValue":
    """A client for `redis://host:port/db`. Does not connect yet.

    Deadlines are short and nothing is retried but one stale connection: a request waits a second,
    then says that the store is unavailable.
    """
    client = Redis.from_url(
        url,
        username=user,
        password=password,
        protocol=3,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        health_check_interval=15,
        retry=Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
    )
    return RedisKeyValue(client, Pipe.to(url, user, password, TIMEOUT_SECONDS))


class RedisKeyValue:
    """See `KeyValue`."""

    def __init__(self, client: "Redis", pipe: Pipe | None) -> None:
        self._redis: Any = client
        self._pipe = pipe

    async def _ask(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except (RedisError, OSError, TimeoutError) as error:
            raise StoreUnavailable(str(error)) from error

    def _at_once(self, batch: Batch) -> Awaitable[list[Any]]:
        """The answers to commands that are sent together; what goes wrong with one is raised.

        In place of the client's pipeline, which takes longer for a command than Redis does.
        """
        return self._ask(self._twice(batch) if self._pipe is None else self._pipe.ask(batch))

    async def _twice(self, batch: Batch) -> list[Any]:
        try:
            return await self._exchange(batch)
        except RedisConnectionError:
            return await self._exchange(batch)  # the connection was an old one

    async def _exchange(self, batch: Batch) -> list[Any]:
        pool = self._redis.connection_pool
        connection = await pool.get_connection()
        try:
            await connection.send_packed_command(batch.sent)
            answers = [await _answer(connection) for _ in range(batch.answers)]
        except BaseException:
            # an answer that is still to come must not be read as the answer to something else
            await connection.disconnect(nowait=True)
            raise
        finally:
            await pool.release(connection)
        for answer in answers:
            if isinstance(answer, ResponseError):
                raise answer
        return answers

    async def get(self, key: str) -> bytes | None:
        return (await self.get_many([key]))[0]

    async def get_many(self, keys: Sequence[str]) -> list[bytes | None]:
        # single-key commands sent together: MGET could not span the slots of a cluster
        return await self._at_once(packed([("GET", key) for key in keys])) if keys else []

    async def put(self, key: str, value: bytes, seconds: int) -> None:
        await self._ask(self._redis.set(key, value, ex=seconds))

    async def add(self, key: str, value: bytes, seconds: int) -> bool:
        return bool(await self._ask(self._redis.set(key, value, ex=seconds, nx=True)))

    async def replace(self, key: str, value: bytes, seconds: int) -> bool:
        return bool(await self._ask(self._redis.set(key, value, ex=seconds, xx=True)))

    async def count(self, key: str, seconds: int) -> int:
        _, numbers = await self.look([], [key], [key], seconds)
        return numbers[0]

    async def look(
        self, keys: Sequence[str], counted: Sequence[str], ending: Collection[str], seconds: int
    ) -> tuple[list[bytes | None], list[int]]:
        batch = _look(tuple(keys), tuple(counted), tuple(ending), seconds)
        answers = await self._at_once(batch)
        return answers[: len(keys)], answers[len(keys) : len(keys) + len(counted)]

    async def remove(self, *keys: str) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for key in keys:
            pipeline.delete(key)
        await self._ask(pipeline.execute())

    async def index_add(self, key: str, member: str, seconds: int) -> None:
        # NX then GT: give a new set its end, and never shorten an existing one
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.sadd(key, member)
        pipeline.expire(key, seconds, nx=True)
        pipeline.expire(key, seconds, gt=True)
        await self._ask(pipeline.execute())

    async def index_remove(self, key: str, member: str) -> None:
        await self._ask(self._redis.srem(key, member))

    async def index(self, key: str) -> set[str]:
        members = await self._ask(self._redis.smembers(key))
        return {member.decode() for member in members}

    async def used(self, key: str, member: str, now: float, seconds: int, most: int) -> list[str]:
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.zadd(key, {member: now})
        pipeline.zremrangebyscore(key, "-inf", now - seconds)
        pipeline.zrange(key, 0, -most - 1)
        pipeline.expire(key, seconds)
        found = (await self._ask(pipeline.execute()))[2]
        if found:
            await self._ask(self._redis.zrem(key, *found))
        return [one.decode() for one in found]

    async def unused(self, key: str, member: str) -> None:
        await self._ask(self._redis.zrem(key, member))

    async def publish(self, channel: str, message: bytes) -> None:
        await self._ask(self._redis.publish(channel, message))

    async def hear(self, channel: str) -> AsyncGenerator[bytes | None]:
        while True:
            try:
                async with self._redis.pubsub() as pubsub:
                    await pubsub.subscribe(channel)
                    while True:
                        # an end to each wait: between two of them a silent connection is tried
                        heard = await pubsub.get_message(timeout=_HEAR_SECONDS)
                        if heard is not None and heard["type"] == "subscribe":
                            yield None  # also when the client has connected again by itself
                        elif heard is not None and heard["type"] == "message":
                            yield heard["data"]
            except (RedisError, OSError, TimeoutError) as error:
                if called_off():  # what went wrong on the way out came in the place of that
                    raise asyncio.CancelledError from error
                await asyncio.sleep(_HEAR_AGAIN_SECONDS)

    async def append(self, key: str, values: Sequence[bytes], most: int) -> None:
        # about: whole nodes of the stream are removed, which costs next to nothing
        bound = ("MAXLEN", "~", most)
        added = packed([("XADD", key, *bound, "*", "e", value) for value in values])
        await self._at_once(added)

    async def trim(self, key: str, before: float) -> None:
        await self._ask(self._redis.xtrim(key, minid=int(before * 1000), approximate=False))

    async def entries(self, key: str, start: str, count: int) -> list[tuple[str, bytes]]:
        found = await self._ask(self._redis.xrange(key, min=start, count=count))
        return [(number.decode(), fields[b"e"]) for number, fields in found if b"e" in fields]

    async def ping(self) -> None:
        await self._ask(self._redis.ping())

    async def close(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
        await self._redis.aclose()


@lru_cache(maxsize=1024)  # who calls again asks for the same
def _look(
    keys: tuple[str, ...], counted: tuple[str, ...], ending: tuple[str, ...], seconds: int
) -> Batch:
    # NX each time: if the connection breaks between the two, the next count gives an end
    return packed(
        [
            *(("GET", key) for key in keys),
            *(("INCR", key) for key in counted),
            *(("EXPIRE", key, seconds, "NX") for key in ending),
        ]
    )


async def _answer(connection: Any) -> Any:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error  # the answers after it are still to be read
