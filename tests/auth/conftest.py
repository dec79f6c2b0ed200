"""auth on a free port, in front of the demo's provider or of any other."""

import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, web

from demo.provider.app import create_app
from demo.provider.faults import Faults
from demo.provider.keys import Keys
from demo.provider.settings import Settings as ProviderSettings
from demo.provider.state import PROVIDER
from services.auth.app import applications
from services.auth.back_channel import BackChannel
from services.auth.oauth import documents
from services.auth.provider import Provider
from services.auth.settings import Settings
from shared import egress
from shared.contracts.config import Config
from shared.contracts.wire import SESSION_COOKIE, Service
from shared.machine_proofs import read_proofs
from shared.settings import Base, Environment
from shared.signing import Seal
from shared.stores.kv import KeyValue
from shared.stores.memory import MemoryKeyValue
from shared.stores.sessions import SessionReader
from tests.auth.bench import Bench
from tests.auth.browser import Browser, Page

ADA = "demo-ada"
CHARLES = "demo-charles"

SERVERS: list[dict[str, Any]] = [
    {"slug": "toys", "name": "Toys", "url": "http://toys/mcp", "access": {"groups": ["makers"]}},
    {"slug": "news", "name": "News", "url": "http://news/mcp", "access": {"everyone": True}},
    {"slug": "vault", "name": "Vault", "url": "http://v/mcp", "access": {"people": ["x@x.test"]}},
]


class Clock:
    """A clock that a test can turn; it starts at the real time."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def free_socket() -> tuple[socket.socket, int]:
    """A listening socket on loopback, and its port."""
    sock = socket.create_server(("127.0.0.1", 0), backlog=128)
    return sock, int(sock.getsockname()[1])


AUDIT_SEAL = Seal([b"a" * 32], b"a" * 32)


@asynccontextmanager
async def serving(app: web.Application, sock: socket.socket) -> AsyncIterator[None]:
    """Serve an application on a socket."""
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    try:
        await web.SockSite(runner, sock).start()
        yield
    finally:
        await runner.cleanup()


def make_config(public_url: str, issuer: str, **changes: Any) -> Config:
    """A configuration in which everybody of strad.test may sign in."""
    provider = {
        "issuer": issuer,
        "client_id": "strad-demo",
        "client_secret": {"env": "UNUSED"},
        "allow": {"domains": ["strad.test"]},
    }
    raw: dict[str, Any] = {
        "public_url": public_url,
        "provider": provider | changes.pop("provider", {}),
        "groups": {"makers": ["ada@strad.test"]},
        "servers": SERVERS,
    }
    return Config.model_validate(raw | changes)


@dataclass
class Auth:
    """A running auth service and what stands behind it."""

    url: str
    issuer: str
    config: Config
    store: KeyValue
    seal: Seal
    clock: Clock
    http: ClientSession
    faults: Faults = field(default_factory=Faults)
    keys: Keys | None = None
    internal: web.Application | None = None

    def browser(self) -> Browser:
        """A browser with an empty jar."""
        return Browser(self.http)

    def sessions(self) -> SessionReader:
        """What the other services use to read sessions."""
        return SessionReader(self.store, self.seal, self.clock)

    async def start(self, browser: Browser, path: str = "/auth/start", site: str = "none") -> Page:
        """To the provider's page, which lists the people."""
        page = await browser.get(self.url + path, site)
        assert page.status == 303, page.text
        assert page.location.startswith(f"{self.issuer}/"), page.location
        return page

    async def choose(self, browser: Browser, question: Page, person: str | None = ADA) -> str:
        """Press a person's button at the provider; gives the address it sends the browser to."""
        form = {} if person is None else {"person": person}
        page = await browser.post(question.location, form)
        assert page.status == 303, page.text
        return page.location

    async def sign_in(
        self, browser: Browser, person: str | None = ADA, path: str = "/auth/start"
    ) -> Page:
        """All steps; gives what the callback answered."""
        question = await self.start(browser, path)
        return await browser.get(await self.choose(browser, question, person), "cross-site")

    async def signed_in(self, person: str = ADA) -> Browser:
        """A browser that is signed in."""
        browser = self.browser()
        page = await self.sign_in(browser, person)
        assert page.status == 200, page.text
        return browser

    async def has_session(self, browser: Browser) -> bool:
        """Whether the browser's session cookie is worth anything."""
        cookie = browser.cookie(self.url, SESSION_COOKIE)
        sessions = self.sessions()
        return bool(cookie) and await sessions.find(sessions.digest(cookie or "")) is not None


StartAuth = Callable[..., Awaitable[Auth]]


@pytest.fixture(scope="session")
def provider_keys() -> Keys:
    """Making an RSA key takes a while."""
    return Keys()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@asynccontextmanager
async def starting_auth(clock: Clock) -> AsyncIterator[StartAuth]:
    """Starts auth in front of any issuer."""
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(
            ClientSession(cookie_jar=DummyCookieJar(), auto_decompress=True)
        )

        async def start(
            issuer: str,
            *,
            timeout: float = 10.0,
            public_url: str = "",
            store: KeyValue | None = None,
            config_path: Path | None = None,
            variables: dict[str, str] | None = None,
            outside: Callable[[], ClientSession] = documents.outside,
            **changes: Any,
        ) -> Auth:
            sock, port = free_socket()
            url = f"http://127.0.0.1:{port}"
            config = make_config(public_url or url, issuer, **changes)
            seal = Seal([b"s" * 32], b"i" * 32)
            kept = store or MemoryKeyValue(clock)
            base = Base(
                Service.AUTH,
                config,
                seal,
                "redis://unused",
                "",
                "127.0.0.1",
                port,
                0,
                "",
                config_path,
            )
            env = Environment(variables or {})
            settings = Settings(base, "demo-secret", AUDIT_SEAL, read_proofs(env, config))
            env.done()
            public, internal = applications(settings, kept, clock, timeout=timeout, outside=outside)
            await stack.enter_async_context(serving(public, sock))
            return Auth(url, issuer, config, kept, seal, clock, http, internal=internal)

        yield start


StartBoth = Callable[..., Awaitable[Auth]]


@asynccontextmanager
async def starting_both(
    start_auth: StartAuth, provider_keys: Keys, clock: Clock
) -> AsyncIterator[StartBoth]:
    """Starts auth and the demo's provider, which can be told to misbehave (`auth.faults`)."""
    async with AsyncExitStack() as stack:

        async def start(**changes: Any) -> Auth:
            sock, port = free_socket()
            issuer = f"http://127.0.0.1:{port}"
            auth = await start_auth(issuer, **changes)
            keys = copy(provider_keys)  # rotated on its own
            settings = ProviderSettings(
                host="127.0.0.1",
                port=port,
                issuer=issuer,
                client_id="strad-demo",
                client_secret="demo-secret",
                redirect_uri=f"{auth.url}/auth/callback",
                faults=True,
            )
            app = create_app(settings, keys, clock)
            await stack.enter_async_context(serving(app, sock))
            auth.faults, auth.keys = app[PROVIDER].faults, keys
            return auth

        yield start


@pytest.fixture
async def start_auth(clock: Clock) -> AsyncIterator[StartAuth]:
    """`starting_auth` for one test."""
    async with starting_auth(clock) as start:
        yield start


@pytest.fixture
async def start_both(
    start_auth: StartAuth, provider_keys: Keys, clock: Clock
) -> AsyncIterator[StartBoth]:
    """`starting_both` for one test."""
    async with starting_both(start_auth, provider_keys, clock) as start:
        yield start


@pytest.fixture
async def auth(start_both: StartBoth) -> Auth:
    """auth and the demo's provider, with nothing special about them."""
    return await start_both()


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A bench on a loopback port."""
    stand = Bench()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", stand.answer)
    sock, port = free_socket()
    stand.issuer = f"http://127.0.0.1:{port}"
    async with serving(app, sock):
        stand.well()
        yield stand


@pytest.fixture
async def provider(bench: Bench, clock: Clock) -> AsyncIterator[Provider]:
    """What auth uses, in front of the bench."""
    async with egress.client(ClientTimeout(total=1)) as http:
        yield Provider(bench.issuer, BackChannel(http), clock)
