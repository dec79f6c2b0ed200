"""The wiring of the relay: settings, stores, domain, routes. The second port is in `internal`."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator

from aiohttp import web

from services.relay.audit.definitions import Definitions
from services.relay.audit.trail import Audit
from services.relay.bridge import Bridge
from services.relay.callers.bearer import Bearer
from services.relay.callers.guesses import Guesses
from services.relay.callers.inbound import MAX_BODY_BYTES
from services.relay.callers.limits import Limits
from services.relay.callers.read_ahead import ReadAhead
from services.relay.callers.running import Running
from services.relay.callers.sessions import McpSessions
from services.relay.callers.token_seen import TokenSeen
from services.relay.calls import Calls
from services.relay.catalog import Catalog
from services.relay.changes.between import Between
from services.relay.changes.hearing import LegacyHearing
from services.relay.changes.listener import Listener
from services.relay.changes.stream_first import StreamFirst
from services.relay.changes.subscribed import Subscribed
from services.relay.entitlements.entitling import Entitling
from services.relay.gate import Gate
from services.relay.handlers.handshake import Handshake
from services.relay.handlers.legacy import Sessioned
from services.relay.handlers.listen import Listen
from services.relay.handlers.mcp import Mcp
from services.relay.handlers.metadata import Metadata
from services.relay.handlers.modern import Modern
from services.relay.handlers.own import Own
from services.relay.handlers.refresh import Refresh
from services.relay.handlers.session_stream import SessionStream
from services.relay.handlers.through import Through
from services.relay.internal import Parts, internal_port
from services.relay.marks import Marks
from services.relay.merged.cursors import Cursors
from services.relay.merged.merge import Merge
from services.relay.messages.endless import Endless
from services.relay.passage import Passage
from services.relay.public import public_routes, render
from services.relay.questions.rendezvous import Rendezvous
from services.relay.questions.states import States
from services.relay.servers.ask import Asker
from services.relay.servers.breaker import Breaker
from services.relay.servers.clients import Clients
from services.relay.servers.eras import Eras
from services.relay.servers.legacy import Legacy
from services.relay.servers.offered import Offered
from services.relay.servers.passport import Passports
from services.relay.servers.pool import Pool
from services.relay.servers.renewal import Renewal
from services.relay.servers.turns import Turns
from services.relay.servers.upstream import Upstream
from services.relay.settings import Settings, read
from shared.always import always
from shared.clock import Clock, system_clock
from shared.contracts.wire import (
    Service,
)
from shared.settings import Base, Environment
from shared.stores.audit import Trail
from shared.stores.kv import KeyValue
from shared.stores.redis import connect
from shared.stores.tokens import TokenReader
from shared.web import app as web_app
from shared.web.routes import Access

_YOUNG = (
    10_000  # objects until the next look for garbage: a call makes hundreds that go by themselves
)

_END_SECONDS = 1.0


def load() -> tuple[Base, web.Application, web.Application]:
    """Read the settings and build both ports. Raises `SettingsWrong`; needs a running loop."""
    settings = read(Environment())
    base = settings.base
    store = connect(base.redis_url, Service.RELAY, base.redis_password)
    public, internal = build(settings, store)
    # what is loaded by now stays: else each full collection walks all the SDK's types again and
    # holds up every caller meanwhile
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG)
    return base, public, internal


def build(
    settings: Settings, redis: KeyValue, clock: Clock = system_clock
) -> tuple[web.Application, web.Application]:
    """The public and the internal application over one store. Needs a running loop."""
    config, seal, store = settings.base.config, settings.base.seal, ReadAhead(redis)
    clients = Clients(settings.credentials)
    passports = Passports(settings.identity_key, config.public_url, clock, settings.published)
    breaker, turns = Breaker(time.monotonic), Turns()
    upstream = Upstream(clients, passports, breaker, turns)
    entitling = Entitling(settings, store, clock)
    watch = entitling.watch
    legacy, eras = Legacy(upstream), Eras(upstream, clock)
    states = States(seal, clock)
    pool, offered = Pool(legacy, store, seal, clock), Offered(clock)
    definitions = Definitions()
    audit = Audit(Trail(store, settings.audit_seal, clock, config.audit), definitions)
    limits = Limits(config, store, seal, audit, clock)
    asker = Asker(upstream, eras, pool, states, limits)
    catalog = Catalog(asker, clock, definitions)
    calls = Calls(asker, catalog, Marks(catalog, clock), audit)
    gate = Gate(config, entitling.grants, audit)
    refresh = Refresh(entitling.epochs, settings.refresh_token)
    parts = Parts(
        gate, watch, asker, catalog, calls, states, audit, refresh, limits, entitling.admission
    )

    sessions = McpSessions(store, seal, clock, config.limits.sessions)
    tokens, seen = (
        TokenReader(store, seal, clock),
        TokenSeen(store, seal, clock, config.trusted_proxies),
    )
    guesses = Guesses(store, seal, clock, config.trusted_proxies)
    bearer = Bearer(store, tokens, sessions, seen, limits, guesses, entitling.admission)
    bridge = Bridge(asker, parts.calls, offered)
    merge = Merge(asker, catalog, parts.calls, Cursors(seal, clock))
    endless = Endless()
    passage = Passage(upstream, legacy, states, offered, endless)
    between = Between(store)
    stream_first = StreamFirst(store, sessions, offered, between)
    handshake = Handshake(eras, legacy, bridge, merge, sessions, stream_first)
    running = Running(between)
    rendezvous = Rendezvous(store, seal, clock, between)
    listener = Listener(upstream, eras, asker, LegacyHearing(upstream, legacy, pool, offered))
    subscribed = Subscribed(store, seal, clock)
    stream = SessionStream(gate, listener, catalog, subscribed, between, endless)
    own = Own(sessions, running, rendezvous, stream, bridge, merge)
    through = Through(
        sessions, Renewal(legacy, sessions), passage, stream_first, running, legacy, parts.calls
    )
    sessioned = Sessioned(handshake, sessions, through, own)
    listen = Listen(gate, listener, catalog, endless)
    modern = Modern(eras, passage, bridge, merge, parts.calls, asker, listen)
    mcp = Mcp(gate, bearer.again, watch, modern, sessioned, audit, limits)
    metadata = Metadata(config.public_url, passports)

    public = web_app.build(
        Service.RELAY,
        public_routes(mcp, metadata, config.public_url),
        config=config,
        render=render(config.public_url),
        identify={Access.BEARER: bearer.identify},
        max_body=MAX_BODY_BYTES,
    )
    internal = internal_port(settings, store, clock, parts, metadata)

    async def resources(_: web.Application) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(always(run)) for run in (between.run, *entitling.runs)]
        yield
        running.close()
        for task in tasks:
            task.cancel()
        # they still use what is closed next
        await asyncio.wait(tasks, timeout=_END_SECONDS)
        await entitling.close()
        await legacy.close()
        await audit.close()
        await clients.close()
        await store.close()

    public.on_shutdown.append(endless.close)
    # the internal port is opened first and closed last
    internal.cleanup_ctx.append(resources)
    return public, internal
