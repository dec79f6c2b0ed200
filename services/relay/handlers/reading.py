"""Requests of a token that may only read: those that are known to change nothing.

A call is decided on by what is known of its tool. What a server understands besides its protocol
can do anything, so it does not get it.
"""

from aiohttp import web
from mcp_types.jsonrpc import INVALID_PARAMS

from services.relay.audit.trail import Audit
from services.relay.changes.changes import LISTEN, SUBSCRIBE, UNSUBSCRIBE
from services.relay.messages import rpc
from services.relay.servers.ask import DISCOVER
from services.relay.servers.logs import SET_LEVEL
from services.relay.servers.pool import REPEATABLE
from services.relay.views import View
from shared.contracts.access import Reason
from shared.contracts.identity import Principal
from shared.web.routes import PRINCIPAL

_READS = REPEATABLE | {
    *(DISCOVER, LISTEN, SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE),
    *("initialize", "tools/call"),
}


def may_be_passed_on(principal: Principal, message: rpc.Message) -> bool:
    """Whether this caller may say this to a server; a call may still be refused."""
    method = message.get("method")
    if not principal.read_only or method is None:
        return True
    return method in _READS or ("id" not in message and method.startswith("notifications/"))


async def refuse(
    audit: Audit, request: web.Request, view: View, message: rpc.Message, *, modern: bool
) -> web.Response:
    """The answer to what may not."""
    if "id" not in message:
        return web.Response(status=202)
    slug = None if view.merged else view.ways[0].server.slug
    await audit.denied(request[PRINCIPAL], slug, Reason.READ_ONLY_TOKEN)
    text = f"This token may only read: {message['method'][:128]} may change something."
    outcome = rpc.failure(INVALID_PARAMS, text, {"reason": Reason.READ_ONLY_TOKEN})
    status = rpc.modern_status(outcome) if modern else 200
    return rpc.answer(message["id"], outcome, status)
