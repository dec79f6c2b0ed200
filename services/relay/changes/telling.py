"""One caller's stream of changes, from all the servers of its view."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager

from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY

from services.relay import policy
from services.relay.changes import changes
from services.relay.changes.changes import Wanted
from services.relay.changes.listener import Listener, Ready
from services.relay.changes.seen import Seen
from services.relay.gate import Way
from services.relay.merged import names
from services.relay.messages import rpc
from services.relay.messages.out import Out
from services.relay.messages.streams import event_of
from services.relay.servers.hello import Hello
from services.relay.views import View

READY_SECONDS = 5.0
KEEP_ALIVE_SECONDS = 15.0
_MOST_PENDING = 1000
_COMMENT = b": still here\n\n"


class Telling:
    """`tag`: the id of the caller's `subscriptions/listen`, which every message names."""

    def __init__(
        self, listener: Listener, seen: Seen, view: View, hello: Hello, tag: rpc.Id | None = None
    ) -> None:
        self._listener = listener
        self._seen = seen
        self._ways = {way.server.slug: way for way in view.ways}
        self._merged = view.merged
        self._hello = hello
        self._tag = tag
        self._pending: dict[tuple[str, str], tuple[str, rpc.Message]] = {}
        self._wake = asyncio.Event()
        self._ended = False

    @asynccontextmanager
    async def listening(self, wanted: Mapping[str, Wanted]) -> AsyncIterator[dict[str, Wanted]]:
        """Listen to these servers; gives what each will tell of, in READY_SECONDS at most."""
        loop = asyncio.get_running_loop()
        ready: dict[str, Ready] = {slug: loop.create_future() for slug in wanted}
        tasks = {self._start(self._ways[slug], wanted[slug], ready[slug]) for slug in wanted}
        try:
            if ready:
                await asyncio.wait(ready.values(), timeout=READY_SECONDS)
            # who is slow, or away, is still listened to
            honoured = {s: one.result() if one.done() else wanted[s] for s, one in ready.items()}
            for slug, told in honoured.items():
                for kind in told.lists if self._compares(self._ways[slug]) else ():
                    await self._seen.note(self._ways[slug], kind)
            yield honoured
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def run(self, out: Out) -> None:
        """Tell until the caller leaves or `end` is called."""
        while not (out.left or self._ended):
            try:
                async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                await out.write(_COMMENT)
                continue
            self._wake.clear()
            pending, self._pending = self._pending, {}
            for text in await self._news(pending.values()):
                await out.write(event_of(text))

    async def tell_all(self, out: Out, wanted: Wanted) -> None:
        """Tell of everything as changed: so it may be when a stream ends, and nobody listens."""
        for message in wanted.all():
            await out.write(event_of(rpc.dumps(self.tagged(message))))

    def end(self) -> None:
        """End the stream soon."""
        self._ended = True
        self._wake.set()

    def tagged(self, message: rpc.Message) -> rpc.Message:
        """A message as this caller gets it."""
        params = message.get("params")
        params = dict(params) if isinstance(params, dict) else {}
        meta = params.get("_meta")
        meta = dict(meta) if isinstance(meta, dict) else {}
        meta.pop(SUBSCRIPTION_ID_META_KEY, None)  # the relay's own with that server
        if self._tag is not None:
            meta[SUBSCRIPTION_ID_META_KEY] = self._tag
        params = {key: value for key, value in params.items() if key != "_meta"}
        params |= {"_meta": meta} if meta else {}
        given = {"jsonrpc": "2.0", "method": message["method"]}
        return given | ({"params": params} if params else {})

    def _start(self, way: Way, wanted: Wanted, ready: Ready) -> asyncio.Task[None]:
        slug = way.server.slug

        def say(message: rpc.Message) -> None:
            uri = changes.uri_of(message)
            if uri is not None and self._merged:
                message = changes.updated(names.expose_uri(slug, uri))
            # a burst is told once: it says no more than that something has changed
            self._pending[slug, uri or message["method"]] = (slug, message)
            if len(self._pending) > _MOST_PENDING:
                self._ended = True  # it does not read: it has to look at everything anyway
            self._wake.set()

        return asyncio.create_task(self._listener.run(way, self._hello, wanted, say, ready))

    async def _news(self, pending: Iterable[tuple[str, rpc.Message]]) -> list[bytes]:
        found: dict[bytes, None] = {}
        for slug, message in pending:
            kind, way = changes.list_of(message), self._ways[slug]
            if kind is not None and self._compares(way) and not await self._seen.changed(way, kind):
                continue
            found[rpc.dumps(self.tagged(message))] = None
        return list(found)

    def _compares(self, way: Way) -> bool:
        """Whether this caller may see another list than the server has, or than it tells of."""
        return self._merged or policy.restricts(way.server)


def by_server(view: View, wanted: Wanted) -> dict[str, Wanted]:
    """What is wanted of whom, in the servers' own addresses; who has none of it is left out."""
    if not view.merged:
        return {view.ways[0].server.slug: wanted} if wanted else {}
    uris: dict[str, list[str]] = {way.server.slug: [] for way in view.ways}
    for slug, uri in filter(None, map(names.split_uri, wanted.uris)):
        uris.get(slug, []).append(uri)
    each = {slug: Wanted(wanted.lists, tuple(own)) for slug, own in uris.items()}
    return {slug: one for slug, one in each.items() if one}


def together(view: View, wanted: Wanted, honoured: Mapping[str, Wanted]) -> Wanted:
    """What all of them tell of, in the view's addresses and in the order of the caller."""
    told: set[str] = set()
    for slug, one in honoured.items():
        told |= {names.expose_uri(slug, uri) if view.merged else uri for uri in one.uris}
    lists = frozenset[str]().union(*(one.lists for one in honoured.values()))
    return Wanted(lists, tuple(uri for uri in wanted.uris if uri in told))
