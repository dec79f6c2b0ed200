"""The second port: what the other services and the operator ask of the relay."""

from dataclasses import dataclass

from aiohttp import web

from services.relay.audit.trail import Audit
from services.relay.callers.assertions import by_assertion
from services.relay.callers.inbound import MAX_BODY_BYTES
from services.relay.callers.limits import Limits
from services.relay.calls import Calls
from services.relay.catalog import Catalog
from services.relay.changes.alive import Watch
from services.relay.console import Console
from services.relay.gate import Gate
from services.relay.handlers.internal import Internal
from services.relay.handlers.metadata import Metadata
from services.relay.handlers.refresh import Refresh
from services.relay.questions.people import Questions
from services.relay.questions.states import States
from services.relay.servers.ask import Asker
from services.relay.settings import Settings
from shared.clock import Clock
from shared.contracts.wire import INTERNAL_RPC_PATH, INTERNAL_SERVERS_PATH, JWKS_PATH, Service
from shared.entitled import Admission
from shared.stores.kv import KeyValue
from shared.stores.sessions import SessionReader
from shared.web import app as web_app
from shared.web.problems import renderer
from shared.web.routes import Access, Answer, Identify, Route
from shared.web.serve import health_routes


@dataclass(frozen=True, slots=True)
class Parts:
    """What both ports share."""

    gate: Gate
    watch: Watch
    asker: Asker
    catalog: Catalog
    calls: Calls
    states: States
    audit: Audit
    refresh: Refresh
    limits: Limits
    admission: Admission


def internal_port(
    settings: Settings, store: KeyValue, clock: Clock, parts: Parts, metadata: Metadata
) -> web.Application:
    """Its application: the API of apphost, the key set, refresh, health and metrics."""
    sessions = SessionReader(store, settings.base.seal, clock)
    identify: Identify = by_assertion(
        settings.apphost_keys, sessions, store, clock, parts.admission
    )
    console = Console(parts.catalog, clock)
    api = Internal(
        sessions,
        parts.admission,
        parts.gate,
        parts.watch,
        console,
        parts.catalog,
        parts.asker,
        parts.calls,
        Questions(parts.states),
        parts.audit,
        parts.limits,
    )
    routes = [
        Route("GET", INTERNAL_SERVERS_PATH, api.servers, Access.INTERNAL, Answer.JSON),
        Route("POST", INTERNAL_RPC_PATH, api.ask, Access.INTERNAL, Answer.JSON),
        parts.refresh.route(),
        # for servers beside us, which know the relay by its own name and not by the public one
        Route("GET", JWKS_PATH, metadata.key_set, Access.PUBLIC, Answer.JSON),
        *health_routes(store, settings.base.metrics_token),
    ]
    return web_app.build(
        Service.RELAY,
        routes,
        config=settings.base.config,
        render=renderer(),
        identify={Access.INTERNAL: identify},
        internal=True,
        max_body=MAX_BODY_BYTES,
    )
