"""apphost alone, over real sockets: its own application, a fake relay, sessions in memory."""

import io
import json
import secrets
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from joserfc.jwk import ECKey, KeySet
from yarl import URL

from services.apphost.app import build
from services.apphost.settings import Settings
from shared.contracts.config import Config
from shared.contracts.identity import Person, Session, SessionKind
from shared.contracts.wire import SESSION_COOKIE, Service
from shared.settings import Base
from shared.signing import Seal, new_signing_key
from shared.stores.memory import MemoryKeyValue
from shared.stores.sessions import SessionWriter
from tests.apphost.fake_relay import FakeRelay, FakeServer

ADA = Person(issuer="https://id.test", sub="ada", email="ada@strad.test", name="Ada Lovelace")
CHARLES = Person(issuer="https://id.test", sub="c", email="charles@strad.test", name="Charles B")
SLUGS = ("toys", "other")


@dataclass
class Reply:
    """An answer, read whole. Redirects are not followed."""

    status: int
    headers: Any
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def kind(self) -> str:
        """The name of a problem+json."""
        return str(json.loads(self.body)["type"]).removeprefix("urn:strad:problem:")


@dataclass
class Console:
    """One running apphost. `toys`: the server that ADA may use and CHARLES may not."""

    url: str
    relay: FakeRelay
    relay_port: int
    sessions: SessionWriter
    store: MemoryKeyValue
    http: aiohttp.ClientSession

    @property
    def toys(self) -> FakeServer:
        return self.relay.servers["toys"]

    async def sign_in(self, person: Person = ADA, kind: SessionKind = SessionKind.OIDC) -> str:
        """The cookie of a new session."""
        now = int(time.time())
        session = Session(
            kind=kind, person=person, created=now, expires=now + 3600, idle_seconds=600
        )
        return await self.sessions.begin(session)

    async def get(
        self, path: str, cookie: str | None = None, *, method: str = "GET", **headers: str
    ) -> Reply:
        """A navigation the person began, unless headers say otherwise; "" leaves one out."""
        sent = {"Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"} | _named(headers)
        return await self.send(method, path, cookie, sent)

    async def frame(self, path: str, cookie: str | None = None) -> Reply:
        """The host page's own iframe loads something."""
        return await self.get(path, cookie, Sec_Fetch_Site="same-origin", Sec_Fetch_Dest="iframe")

    async def call(
        self,
        cookie: str | None,
        body: Any,
        *,
        slug: str = "toys",
        route: str = "tools/call",
        **headers: str,
    ) -> Reply:
        """The host page's script asks a bridge route. `body`: JSON, or bytes as they are."""
        sent = {
            "Origin": self.url,
            "Sec-Fetch-Site": "same-origin",
            "Content-Type": "application/json",
        } | _named(headers)
        path = f"/apps/{slug}/{route}"
        return await self.send("POST", path, cookie, sent, body)

    async def send(
        self,
        method: str,
        path: str,
        cookie: str | None,
        headers: dict[str, str],
        body: Any = None,
    ) -> Reply:
        """Any request. Headers with an empty value are left out."""
        sent = {name: value for name, value in headers.items() if value}
        if cookie:
            sent["Cookie"] = f"{SESSION_COOKIE}={cookie}"
        if body is not None:
            body = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
        async with self.http.request(
            method,
            URL(self.url + path, encoded=True),
            headers=sent,
            data=body,
            allow_redirects=False,
        ) as response:
            return Reply(response.status, response.headers, await response.read())


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@asynccontextmanager
async def running(config_path: Path | None = None, **app: Any) -> AsyncIterator[Console]:
    """A console on free ports. `app`: settings of the server `toys`, such as links="off"."""
    key = new_signing_key()
    relay = FakeRelay(KeySet([ECKey.import_key(key.as_dict(private=False))]))
    relay.servers = {slug: FakeServer(people={ADA.subject}) for slug in SLUGS}
    sockets = [listen(), listen()]
    url, relay_url = (f"http://127.0.0.1:{sock.getsockname()[1]}" for sock in sockets)
    seal, store = Seal([secrets.token_bytes(32)], secrets.token_bytes(32)), MemoryKeyValue()
    config = config_of(url, app)
    base = Base(Service.APPHOST, config, seal, "redis://unused", "", "", 0, 0, "", config_path)
    public, _ = build(Settings(base, key, relay_url), store)
    runners = [web.AppRunner(public, access_log=None), web.AppRunner(relay.application())]
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as http:
        for runner, sock in zip(runners, sockets, strict=True):
            await runner.setup()
            await web.SockSite(runner, sock).start()
        port = int(relay_url.rsplit(":", 1)[1])
        yield Console(url, relay, port, SessionWriter(store, seal, time.time), store, http)
        for runner in runners:
            await runner.cleanup()


def listen(port: int = 0) -> socket.socket:
    """A listening socket on this machine; 0: on a free port."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", port))
    sock.listen()
    return sock


def config_of(url: str, app: dict[str, Any]) -> Config:
    servers = [
        {
            "slug": slug,
            "name": "Toy shop" if slug == "toys" else "Another one",
            "url": "http://toys.internal:8080/mcp",
            "access": {"people": [ADA.email]},
            "app": app,
            "tools": {"each": {"trusted": {"read_only": True}}},
        }
        for slug in SLUGS
    ]
    provider = {
        "issuer": "https://id.test",
        "client_id": "c",
        "client_secret": {"env": "X"},
        "allow": {"people": [ADA.email, CHARLES.email]},
    }
    return Config.model_validate(
        {
            "public_url": url,
            "provider": provider,
            "administrators": [ADA.email],
            "servers": servers,
        }
    )
