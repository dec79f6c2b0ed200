"""`subscriptions/listen` of a caller of 2026-07-28 whom the relay answers itself."""

from aiohttp import web
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types.jsonrpc import INVALID_PARAMS

from services.relay.callers import inbound
from services.relay.catalog import Catalog
from services.relay.changes import changes
from services.relay.changes.alive import Alive
from services.relay.changes.changes import MAX_URIS, Wanted
from services.relay.changes.listener import Listener
from services.relay.changes.seen import Seen
from services.relay.changes.telling import Telling, by_server, together
from services.relay.gate import Gate
from services.relay.messages import rpc
from services.relay.messages.endless import Endless
from services.relay.messages.out import Out
from services.relay.messages.streams import event_of
from services.relay.servers.hello import Hello
from services.relay.views import View, lasting
from shared.contracts.problems import Problem


class Listen:
    """Answers for as long as the caller stays and may. Raises `Rejected` or a `Problem`."""

    def __init__(self, gate: Gate, listener: Listener, catalog: Catalog, endless: Endless) -> None:
        self._gate = gate
        self._listener = listener
        self._catalog = catalog
        self._endless = endless

    async def answer(
        self, request: web.Request, view: View, hello: Hello, message: rpc.Message, alive: Alive
    ) -> web.StreamResponse:
        """First what is told of, then what changes, at the end that it ends."""
        wanted = changes.of_filter(message["params"].get("notifications"))
        if wanted is None or len(wanted.uris) > MAX_URIS:
            text = f"params.notifications must be a filter, with at most {MAX_URIS} resources"
            raise inbound.Rejected(INVALID_PARAMS, text, to=message["id"])
        self._endless.add()
        out, seen = Out(request), Seen(self._catalog, hello)
        telling = Telling(self._listener, seen, view, hello, message["id"])
        alive, told = lasting(self._gate, view, alive), Wanted()
        try:
            async with alive.hold(), telling.listening(by_server(view, wanted)) as honoured:
                told = together(view, wanted, honoured)
                params = {"notifications": told.filter}
                acknowledged = {"method": changes.ACKNOWLEDGED, "params": params}
                await out.write(event_of(rpc.dumps(telling.tagged(acknowledged))))
                await telling.run(out)
        except Problem:
            if not out.begun:
                raise
            await telling.tell_all(out, Wanted(told.lists))
        meta = {SUBSCRIPTION_ID_META_KEY: message["id"]}
        result = {"resultType": "complete", "_meta": meta}
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        await out.write(event_of(rpc.dumps(answer)))
        return await out.end()
