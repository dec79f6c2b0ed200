"""The wiring: settings -> store and relay client -> handlers -> routes."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
from aiohttp import web

from services.apphost.handlers import frame
from services.apphost.handlers.bridge_read import BridgeRead
from services.apphost.handlers.frame import Frame
from services.apphost.handlers.home import Home
from services.apphost.handlers.host_page import HostPage
from services.apphost.handlers.open_page import OpenPage
from services.apphost.handlers.tool_call import ToolCall
from services.apphost.limits import Limits
from services.apphost.modules import module_routes, read_modules
from services.apphost.relay_client import RelayClient
from services.apphost.settings import Settings, read
from shared import numbers, ui
from shared.clock import Clock, system_clock
from shared.contracts.identity import Principal
from shared.contracts.wire import APPS_PATH, STATIC_PATH, Service
from shared.entitled import Admission
from shared.settings import Base, Environment
from shared.stores.kv import KeyValue
from shared.stores.redis import connect
from shared.stores.sessions import SessionReader, SessionSeen
from shared.web.app import build as build_app
from shared.web.following import following
from shared.web.identity import by_session
from shared.web.pages import page_renderer, static_routes
from shared.web.problems import renderer
from shared.web.routes import SESSION, Access, Answer, Identify, Route
from shared.web.serve import health_routes

TEMPLATES = Path(__file__).parent / "templates"
_APP = APPS_PATH + "/{slug:[a-z0-9][a-z0-9-]{0,31}}"
_NO_FRAME = APPS_PATH + "/{slug}/frame{rest:(?:\\W(?s:.)*)?}"


def load() -> tuple[Base, web.Application, web.Application]:
    """Settings from the environment, and the two applications. Raises `SettingsWrong`."""
    settings = read(Environment())
    base = settings.base
    store = connect(base.redis_url, Service.APPHOST, base.redis_password)
    return base, *build(settings, store)


def build(
    settings: Settings, store: KeyValue, clock: Clock = system_clock
) -> tuple[web.Application, web.Application]:
    """The public and the internal application over a store."""
    config = settings.base.config
    templates = ui.environment(TEMPLATES)
    # numbers as the server wrote them, and a form's fields in the order of its schema
    templates.policies["json.dumps_function"] = numbers.dumps
    templates.policies["json.dumps_kwargs"] = {}
    modules = read_modules()
    admission = Admission(config)
    http = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
    )
    relay = RelayClient(http, settings.relay_url, settings.key, clock)
    ask_first = OpenPage(templates, modules)
    slugs = [server.slug for server in config.servers]
    limits = Limits(slugs, store, settings.base.seal, clock)
    calls = ToolCall(config, relay, limits)
    show = Frame(config, relay)
    reads = BridgeRead(relay, limits)
    member = Access.SIGNED_IN
    routes = [
        Route("GET", "/", Home(admission, relay, templates).get, member),
        Route(
            "GET",
            _APP,
            HostPage(config, relay, templates, modules).get,
            member,
            guard=ask_first.guard,
        ),
        Route("GET", f"{_APP}/frame", show.get, member, Answer.FRAME, guard=frame.guard),
        Route("*", _NO_FRAME, frame.elsewhere, Access.PUBLIC, Answer.FRAME, guard=frame.elsewhere),
        Route("POST", f"{_APP}/tools/call", calls.post, member, Answer.JSON),
        Route("POST", f"{_APP}/tools/list", reads.tools, member, Answer.JSON),
        Route("POST", f"{_APP}/resources/list", reads.resources, member, Answer.JSON),
        Route("POST", f"{_APP}/resources/read", reads.resource, member, Answer.JSON),
        *module_routes(modules),
        *static_routes(STATIC_PATH),
    ]
    sessions = SessionReader(store, settings.base.seal, clock)
    render = renderer(page_renderer(templates), frame.frame_renderer(templates, config.public_url))
    public = build_app(
        Service.APPHOST,
        routes,
        config=config,
        render=render,
        identify={member: _noting(by_session(sessions, admission), SessionSeen(store, clock))},
    )

    async def connections(_: web.Application) -> AsyncIterator[None]:
        yield
        await http.close()
        await store.close()

    public.cleanup_ctx.append(connections)
    public.cleanup_ctx.append(following(settings.base, admission))
    internal = build_app(
        Service.APPHOST,
        health_routes(store, settings.base.metrics_token),
        config=config,
        render=renderer(),
        identify={},
        internal=True,
    )
    return public, internal


def _noting(identify: Identify, seen: SessionSeen) -> Identify:
    """Identify, and note that the session was used: that is what keeps it from going idle."""

    async def identify_and_note(request: web.Request) -> Principal | None:
        principal = await identify(request)
        if principal is not None:
            await seen.note(principal.digest, request[SESSION])
        return principal

    return identify_and_note
