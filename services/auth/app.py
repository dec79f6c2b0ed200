"""The only wiring: settings -> store -> domain -> routes."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import aiohttp
from aiohttp import web

from services.auth import links, settings
from services.auth.attempts import Attempts
from services.auth.back_channel import TIMEOUT_SECONDS, BackChannel
from services.auth.code_exchange import Client
from services.auth.code_flow import CodeFlow
from services.auth.handlers import (
    callback,
    link,
    people,
    provider_sign_out,
    sessions,
    sign_in,
    sign_out,
    start,
    tokens,
)
from services.auth.limits import Limits, counting
from services.auth.login_links import LINK_PATH, LoginLinks
from services.auth.oauth import documents
from services.auth.oauth.documents import Documents
from services.auth.oauth.parts import OAUTH, oauth_of
from services.auth.oauth.routes import oauth_routes
from services.auth.parts import PARTS, Parts
from services.auth.people import People
from services.auth.provider import Provider
from services.auth.refusals import SignInFailed
from services.auth.settings import Settings
from shared import egress, ui
from shared.clock import Clock, system_clock
from shared.contracts.wire import (
    AUTH_STATIC_PATH,
    CALLBACK_PATH,
    PEOPLE_PATH,
    SESSIONS_PATH,
    SIGN_IN_PATH,
    SIGN_OUT_PATH,
    TOKENS_PATH,
    Service,
)
from shared.entitled import Admission
from shared.settings import Base, Environment
from shared.stores.audit import Trail
from shared.stores.kv import KeyValue
from shared.stores.redis import connect
from shared.stores.sessions import SessionWriter
from shared.stores.tokens import TokenWriter
from shared.web.app import build
from shared.web.following import following
from shared.web.identity import by_session
from shared.web.pages import page_renderer, static_routes
from shared.web.problems import renderer
from shared.web.routes import Access, Answer, Route
from shared.web.serve import health_routes

TEMPLATES = Path(__file__).parent / "templates"
MAX_BODY = 64 * 1024

ROUTES = [
    Route("GET", SIGN_IN_PATH, sign_in.show, Access.PUBLIC),
    Route("GET", links.START_PATH, start.begin, Access.PUBLIC),
    Route("GET", CALLBACK_PATH, counting(callback.finish), Access.PUBLIC),
    Route("GET", LINK_PATH, counting(link.show), Access.PUBLIC),
    Route("POST", LINK_PATH, counting(link.take), Access.PUBLIC),
    Route("POST", SIGN_OUT_PATH, sign_out.end, Access.PUBLIC),
    Route("GET", links.SIGNED_OUT_PATH, sign_out.show, Access.PUBLIC),
    Route(
        "POST",
        links.PROVIDER_SIGN_OUT_PATH,
        provider_sign_out.end,
        Access.GUARDED,
        Answer.JSON,
        provider_sign_out.guard,
    ),
    Route("GET", TOKENS_PATH, tokens.show, Access.SIGNED_IN),
    Route("POST", TOKENS_PATH, tokens.create, Access.SIGNED_IN),
    Route("POST", f"{TOKENS_PATH}/{{id}}/revoke", tokens.revoke, Access.SIGNED_IN),
    Route("GET", SESSIONS_PATH, sessions.show, Access.SIGNED_IN),
    Route("POST", f"{SESSIONS_PATH}/end-all", sessions.end_all, Access.SIGNED_IN),
    Route("POST", f"{SESSIONS_PATH}/{{id}}/end", sessions.end, Access.SIGNED_IN),
    Route("GET", PEOPLE_PATH, people.show, Access.ADMIN),
    Route("POST", f"{PEOPLE_PATH}/end", people.end, Access.ADMIN),
    *static_routes(AUTH_STATIC_PATH),
]


def load() -> tuple[Base, web.Application, web.Application]:
    """The settings and the applications of both ports. Raises `SettingsWrong`."""
    found = settings.read(Environment())
    base = found.base
    store = connect(base.redis_url, base.service, base.redis_password)
    return base, *applications(found, store, system_clock)


def applications(
    found: Settings,
    store: KeyValue,
    clock: Clock,
    *,
    timeout: float = TIMEOUT_SECONDS,
    outside: Callable[[], aiohttp.ClientSession] = documents.outside,
) -> tuple[web.Application, web.Application]:
    """Public and internal application. `timeout`: seconds for one request to the provider.

    `outside`: makes what fetches the documents of OAuth clients.
    """
    config, seal = found.base.config, found.base.seal
    pages = ui.environment(TEMPLATES, static_base=AUTH_STATIC_PATH)
    writer = SessionWriter(store, seal, clock)
    trail = Trail(store, found.audit_seal, clock, config.audit)
    known = People(store, seal, clock)
    admission = Admission(config)
    identify = by_session(writer, admission)

    def parts(http: aiohttp.ClientSession) -> Parts:
        channel = BackChannel(http)
        provider = Provider(config.provider.issuer, channel, clock)
        client = Client(
            client_id=config.provider.client_id,
            secret=found.client_secret,
            scopes=config.provider.scopes,
            redirect_uri=f"{config.public_url}{CALLBACK_PATH}",
        )
        return Parts(
            admission=admission,
            clock=clock,
            store=store,
            pages=pages,
            flow=CodeFlow(provider, channel, client, config.provider, clock, admission),
            attempts=Attempts(store, seal, clock, provider.issuer),
            people=known,
            login_links=LoginLinks(store, seal, clock, known),
            sessions=writer,
            tokens=TokenWriter(store, seal, clock),
            identify=identify,
            trail=trail,
            limits=Limits(store, seal, clock, config.trusted_proxies),
        )

    public = build(
        Service.AUTH,
        [*ROUTES, *oauth_routes(config)],
        config=config,
        render=renderer(page=page_renderer(pages, {SignInFailed: "failed.html"})),
        identify={Access.SIGNED_IN: identify},
        admission=admission,
        max_body=MAX_BODY,
    )
    public.cleanup_ctx.append(_provider_client(parts, timeout))
    public.cleanup_ctx.append(following(found.base, admission))

    async def oauth(app: web.Application) -> AsyncIterator[None]:
        async with outside() as http:
            known_clients = Documents(http, clock)
            app[OAUTH] = oauth_of(
                config, store, seal, clock, known_clients, admission, found.proofs
            )
            yield

    public.cleanup_ctx.append(oauth)
    internal = build(
        Service.AUTH,
        health_routes(store, found.base.metrics_token),
        config=config,
        render=renderer(),
        identify={},
        internal=True,
    )
    internal.cleanup_ctx.append(_closing(store))
    return public, internal


def _provider_client(
    parts: Callable[[aiohttp.ClientSession], Parts], timeout: float
) -> Callable[[web.Application], AsyncIterator[None]]:
    async def opened(app: web.Application) -> AsyncIterator[None]:
        async with egress.client(aiohttp.ClientTimeout(total=timeout)) as http:
            app[PARTS] = parts(http)
            yield

    return opened


def _closing(store: KeyValue) -> Callable[[web.Application], AsyncIterator[None]]:
    async def closed(_: web.Application) -> AsyncIterator[None]:
        yield
        await store.close()

    return closed
