"""One stream of changes from one server, in either version, until it ends."""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

import aiohttp
from mcp_types.jsonrpc import METHOD_NOT_FOUND

from services.relay.changes import changes
from services.relay.changes.changes import Wanted
from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.messages.events import events_of
from services.relay.messages.streams import data_of
from services.relay.servers import modern
from services.relay.servers.answers import read_answer
from services.relay.servers.bodies import read_message
from services.relay.servers.deadlines import deadline
from services.relay.servers.failures import malformed
from services.relay.servers.hello import Hello
from services.relay.servers.legacy import Legacy, Session, SessionLost
from services.relay.servers.lost import SessionUnknown
from services.relay.servers.offered import Offered
from services.relay.servers.pool import Pool
from services.relay.servers.upstream import Upstream


class Unserved(Exception):
    """The server does not tell of any of this."""


@dataclass(frozen=True, slots=True)
class Ear:
    """Who listens to what. `say` gets each change; `listening`, once, what will be told of."""

    way: Way
    hello: Hello
    wanted: Wanted
    say: Callable[[rpc.Message], None]
    listening: Callable[[Wanted], None]


async def hear_modern(upstream: Upstream, ear: Ear) -> None:
    """By `subscriptions/listen`. Raises `Unserved`, `NotModern` or a `Problem`."""
    way = ear.way
    headers, body = modern.message(ear.hello, changes.LISTEN, {"notifications": ear.wanted.filter})
    async with (
        deadline(way.server) as limit,
        upstream.open(way, "POST", headers, body, in_turn=False) as response,
    ):
        if response.content_type != "text/event-stream":
            refusal = await read_answer(way.server, response, modern.ID)
            if modern.not_modern(response.status, refusal, modern.ID):
                raise modern.NotModern(refusal)
            if refusal.get("error", {}).get("code") == METHOD_NOT_FOUND:
                raise Unserved
            raise malformed(way.server, f"it answers {changes.LISTEN} without a stream")
        async for message in _messages(way, response):
            if message.get("method") == changes.ACKNOWLEDGED:
                limit.reschedule(None)
                ear.listening(changes.acknowledged(message))
            elif ear.wanted.takes(message):
                ear.say(message)
            elif "method" not in message:
                return


class LegacyHearing:
    """By a GET stream, and a subscription for each resource."""

    def __init__(self, upstream: Upstream, legacy: Legacy, pool: Pool, offered: Offered) -> None:
        self._upstream = upstream
        self._legacy = legacy
        self._pool = pool
        self._offered = offered

    async def hear(self, ear: Ear) -> None:
        """Raises `Unserved`, `SessionLost`, `HandshakeRefused` or a `Problem`."""
        if self._offered.nothing(ear.way.server.slug):
            raise Unserved
        async with self._session(ear) as session:
            await self._hear(ear, session)

    async def _hear(self, ear: Ear, session: Session) -> None:
        way, wanted = ear.way, ear.wanted
        async with (
            deadline(way.server) as limit,
            self._upstream.open(way, "GET", session.headers, in_turn=False) as response,
        ):
            if response.status == 404:
                raise SessionLost
            if response.content_type != "text/event-stream" or response.status != 200:
                self._offered.note(way.server.slug, response.status)
                raise Unserved
            uris = [uri for uri in wanted.uris if await self._subscribed(way, session, uri)]
            limit.reschedule(None)
            ear.listening(Wanted(wanted.lists, tuple(uris)))
            async for message in _messages(way, response):
                if wanted.takes(message):
                    ear.say(message)
                elif "id" in message and "method" in message:
                    await self._legacy.refuse(way, session, message)

    async def _subscribed(self, way: Way, session: Session, uri: str) -> bool:
        answer = await self._legacy.ask(way, session, changes.SUBSCRIBE, {"uri": uri})
        return "result" in answer

    @asynccontextmanager
    async def _session(self, ear: Ear) -> AsyncIterator[Session]:
        """One to listen in: the one that calls are made in, or else one for this alone.

        Many servers tell of a changed list in the session that caused it, and nowhere else. But a
        session has one stream: the first who listens has it.
        """
        way, hello = ear.way, ear.hello
        if ear.wanted.lists:
            async with self._pool.to_listen(way, hello) as session:
                if session is not None:
                    async with self._shared(ear, session):
                        yield session
                    return
        own = await self._legacy.handshake(way, self._pool.introduction(hello), confirm=True)
        try:
            yield own
        finally:
            self._legacy.later(self._legacy.end(way, own))

    @asynccontextmanager
    async def _shared(self, ear: Ear, session: Session) -> AsyncIterator[None]:
        try:
            yield
        except (SessionLost, SessionUnknown):
            await self._pool.renew(ear.way, ear.hello, session)
            raise
        finally:
            for uri in ear.wanted.uris:
                params = {"uri": uri}
                asked = self._legacy.ask(ear.way, session, changes.UNSUBSCRIBE, params)
                self._legacy.later(asked)


async def _messages(way: Way, response: aiohttp.ClientResponse) -> AsyncIterator[rpc.Message]:
    async with aclosing(events_of(way.server, response)) as together:
        async for events in together:
            for data in filter(None, map(data_of, events)):
                yield read_message(way.server, data)
