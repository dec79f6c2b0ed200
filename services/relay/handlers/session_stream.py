"""The GET stream of a session that the relay answers itself, and what the session subscribes to.

A session has one stream at a time: a newer one ends the older, at whichever replica, so that no
message is sent twice and a client whose connection broke is never locked out.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web
from mcp_types.jsonrpc import INVALID_PARAMS

from services.relay.bridge import unknown_method
from services.relay.catalog import Catalog
from services.relay.changes import changes
from services.relay.changes.alive import Alive
from services.relay.changes.between import Between
from services.relay.changes.changes import ANYTHING, EVERY_LIST, MAX_URIS, Wanted
from services.relay.changes.listener import Listener
from services.relay.changes.newest import Newest
from services.relay.changes.seen import Seen
from services.relay.changes.subscribed import Subscribed
from services.relay.changes.telling import READY_SECONDS, Telling, by_server, together
from services.relay.gate import Gate, Way
from services.relay.messages import rpc
from services.relay.messages.endless import Endless
from services.relay.messages.out import Out
from services.relay.servers.deadlines import deadline
from services.relay.servers.hello import Hello
from services.relay.servers.pace import Pace
from services.relay.views import View, lasting
from shared import ids
from shared.contracts.problems import Problem

EFFECT_SECONDS = 0.5
_LONGEST_URI = 2048


class SessionStream:
    """`place`: the key of a session."""

    def __init__(
        self,
        gate: Gate,
        listener: Listener,
        catalog: Catalog,
        subscribed: Subscribed,
        between: Between,
        endless: Endless,
    ) -> None:
        self._gate = gate
        self._listener = listener
        self._catalog = catalog
        self._subscribed = subscribed
        self._between = between
        self._endless = endless
        self._newest = Newest(between)
        self._waiting: dict[str, asyncio.Event] = {}
        between.on("resources-heard", lambda what: self._heard(what["change"]))

    async def get(
        self, request: web.Request, view: View, hello: Hello, place: str, alive: Alive
    ) -> web.StreamResponse:
        """The stream, for as long as it is the session's newest; 405 where nobody would tell."""
        if not await self._offered(view, hello):
            return web.Response(status=405, headers={"Allow": "POST, DELETE"})
        self._endless.add()
        out, told = Out(request), Wanted()
        telling = Telling(self._listener, Seen(self._catalog, hello), view, hello)
        lists = {way.server.slug: EVERY_LIST for way in view.ways}
        try:
            async with (
                lasting(self._gate, view, alive).hold(),
                self._newest.of(place, telling) as changes,
                telling.listening(lists) as honoured,
                self._resources(telling, view, place, changes),
            ):
                told = together(view, EVERY_LIST, honoured)
                await out.begin()
                await telling.run(out)
        except Problem:
            if not out.begun:
                raise
            await telling.tell_all(out, told)
        return await out.end()

    async def subscribe(
        self, view: View, hello: Hello, place: str, method: str, params: rpc.Message
    ) -> rpc.Message:
        """`resources/subscribe` or `resources/unsubscribe`: the outcome."""
        uri = params.get("uri")
        if not isinstance(uri, str) or len(uri) > _LONGEST_URI:
            text = f"params.uri must be text of at most {_LONGEST_URI} characters"
            return rpc.failure(INVALID_PARAMS, text)
        wanted = by_server(view, Wanted(uris=(uri,)))
        ways = [way for way in view.ways if way.server.slug in wanted]
        if not ways:
            return rpc.failure(INVALID_PARAMS, f"Unknown resource: {uri}", {"uri": uri})
        if not await self._listener.tells(ways[0], hello, wanted[ways[0].server.slug]):
            return unknown_method(method)
        if method == changes.UNSUBSCRIBE:
            await self._subscribed.remove(place, uri)
        elif not await self._subscribed.add(place, uri):
            text = f"A session may subscribe to {MAX_URIS} resources: unsubscribe from one first."
            return rpc.failure(INVALID_PARAMS, text)
        await self._take_effect(place)
        return {"result": {}}

    async def end(self, place: str) -> None:
        """The session has ended: so does its stream, at whichever replica."""
        await self._subscribed.end(place)
        await self._newest.end(place)

    async def _offered(self, view: View, hello: Hello) -> bool:
        pace = Pace()

        async def one(way: Way) -> bool:
            try:
                async with (
                    pace.turn(),
                    deadline(way.server, min(READY_SECONDS, way.server.timeout)),
                ):
                    return await self._listener.tells(way, hello, ANYTHING)
            except Problem:
                return True  # it may, once it is back

        return any(await asyncio.gather(*(one(way) for way in view.ways)))

    @asynccontextmanager
    async def _resources(
        self, telling: Telling, view: View, place: str, changes: asyncio.Queue[str]
    ) -> AsyncIterator[None]:
        task = asyncio.create_task(self._listen_anew(telling, view, place, changes))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _listen_anew(
        self, telling: Telling, view: View, place: str, changes: asyncio.Queue[str]
    ) -> None:
        """Listen to what the session has subscribed to, and anew when that has changed."""
        heeded: list[str] = []
        async with AsyncExitStack() as now:
            while True:
                while not changes.empty():
                    heeded.append(changes.get_nowait())
                wanted = Wanted(uris=await self._subscribed.uris(place))
                async with AsyncExitStack() as new:
                    await new.enter_async_context(telling.listening(by_server(view, wanted)))
                    await now.aclose()  # only now: nothing is missed between the two
                    now.push_async_exit(new.pop_all())
                for change in heeded:
                    await self._between.tell("resources-heard", change=change)
                heeded = [await changes.get()]

    async def _take_effect(self, place: str) -> None:
        """Wait until the session's stream, at whichever replica, listens to what it now has."""
        change = ids.new_id()
        heard = self._waiting[change] = asyncio.Event()
        try:
            async with asyncio.timeout(EFFECT_SECONDS):
                await self._newest.changed(place, change)
                await heard.wait()
        except TimeoutError:
            return  # it has no stream, or is slow
        finally:
            del self._waiting[change]

    def _heard(self, change: str) -> None:
        if change in self._waiting:
            self._waiting[change].set()
