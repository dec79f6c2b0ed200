"""A relay on real sockets, with a store in memory, people with tokens, and a console's key."""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import yaml
from joserfc.jwk import ECKey, KeySet
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import encode_header_value

from demo.run.ports import free_ports
from services.relay.app import build
from services.relay.settings import Settings
from shared import ids
from shared.clock import system_clock
from shared.contracts.config import Config
from shared.contracts.identity import Assertion, Person, Session, SessionKind, Token
from shared.contracts.wire import APP_MIME_TYPE, ASSERTION_HEADER, Service
from shared.settings import Base
from shared.signing import Seal, new_signing_key, sign_assertion
from shared.stores.kv import KeyValue
from shared.stores.memory import MemoryKeyValue
from shared.stores.sessions import SessionWriter
from shared.stores.tokens import TokenWriter
from shared.web.serve import listening

VERSION = "2026-07-28"
CAPABILITIES = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": [APP_MIME_TYPE]}}}


class Clock:
    """A clock that can be turned."""

    def __init__(self) -> None:
        self.offset = 0.0

    def __call__(self) -> float:
        return system_clock() + self.offset


@dataclass
class House:
    """Everything that a test of the relay wants to hold."""

    url: str
    internal_url: str
    config: Config
    settings: Settings
    store: KeyValue
    clock: Clock
    apphost_key: Any
    http: aiohttp.ClientSession
    tokens: dict[str, str] = field(default_factory=dict)

    async def token(self, name: str = "ada", **more: Any) -> str:
        """A personal access token; one a person unless `more` is given."""
        if name in self.tokens and not more:
            return self.tokens[name]
        now = int(self.clock())
        person = self.person(name)
        record = {"servers": None, "created": now, "expires": now + 3600} | more
        token = Token(id=ids.new_id(), person=person, label="test", **record)
        text = await self.token_writer.create(token)
        if not more:
            self.tokens[name] = text
        return text

    @property
    def token_writer(self) -> TokenWriter:
        return TokenWriter(self.store, self.settings.base.seal, self.clock)

    @staticmethod
    def person(name: str) -> Person:
        email = f"{name}@strad.test"
        return Person(
            issuer="https://idp.test", sub=name, email=email, name=name, organisation="strad.test"
        )

    async def bearer(self, name: str = "ada") -> dict[str, str]:
        return {"Authorization": f"Bearer {await self.token(name)}"}

    async def modern(
        self,
        path: str,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        name: str = "ada",
        headers: dict[str, str] | None = None,
        request_id: Any = 7,
    ) -> tuple[int, Any]:
        """One request of 2026-07-28: status and body."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        }
        params = dict(params or {})
        params["_meta"] = meta | params.get("_meta", {})
        sent = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
        named = params.get("name", params.get("uri"))
        if isinstance(named, str) and method in {"tools/call", "prompts/get", "resources/read"}:
            sent["Mcp-Name"] = encode_header_value(named)
        body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        return await self.send(path, body, name=name, headers=sent | (headers or {}))

    async def send(
        self,
        path: str,
        body: Any,
        *,
        name: str = "ada",
        headers: dict[str, str] | None = None,
        verb: str = "POST",
    ) -> tuple[int, Any]:
        """Any request: status, and the JSON or the text of the answer."""
        sent = {"Accept": "application/json, text/event-stream"} | await self.bearer(name)
        raw = {"data": io.BytesIO(body)} if isinstance(body, bytes) else {"json": body}
        sent |= {"Content-Type": "application/json"} if isinstance(body, bytes) else {}
        async with self.http.request(
            verb, self.url + path, headers=sent | (headers or {}), **raw
        ) as response:
            text = await response.text()
            if response.content_type == "application/json" and text:
                return response.status, await response.json()
            return response.status, text

    @asynccontextmanager
    async def client(
        self, path: str, mode: str, *, name: str = "ada", **options: Any
    ) -> AsyncIterator[Client]:
        """The SDK's client, connected."""
        async with httpx2.AsyncClient(
            headers=await self.bearer(name), timeout=httpx2.Timeout(10, read=20)
        ) as http:
            transport = streamable_http_client(self.url + path, http_client=http)
            async with Client(transport, mode=mode, **options) as client:
                yield client

    async def session(self, name: str = "ada", kind: SessionKind = SessionKind.OIDC) -> str:
        """The digest of a new browser session."""
        now = int(self.clock())
        writer = SessionWriter(self.store, self.settings.base.seal, self.clock)
        session = Session(
            kind=kind,
            person=self.person(name),
            created=now,
            expires=now + 3600,
            idle_seconds=3600,
        )
        return writer.digest(await writer.begin(session))

    def assertion(self, name: str, session: str, slug: str | None, **more: Any) -> str:
        """What apphost would sign."""
        fields: dict[str, Any] = {
            "caller": Service.APPHOST,
            "audience": Service.RELAY,
            "subject": self.person(name).subject,
            "session": session,
            "slug": slug,
            "id": ids.new_id(),
            "expires": int(self.clock()) + 20,
        }
        key = more.pop("key", self.apphost_key)
        return sign_assertion(Assertion(**(fields | more)), key)

    async def ask(
        self, slug: str | None, body: Any = None, *, assertion: str | None = None, name: str = "ada"
    ) -> tuple[int, Any]:
        """The internal API: the list of servers, or one question to one."""
        signed = assertion
        if signed is None:
            signed = self.assertion(name, await self.session(name), slug)
        path = "/internal/v1/servers" + (f"/{slug}/rpc" if slug else "")
        async with self.http.request(
            "POST" if slug else "GET",
            self.internal_url + path,
            json=body,
            headers={ASSERTION_HEADER: signed},
        ) as response:
            return response.status, await response.json(content_type=None)


def config_of(servers: list[dict[str, Any]], port: int, **more: Any) -> Config:
    """A configuration: ada may use what does not say otherwise."""
    everyone = {"people": ["ada@strad.test"]}
    return Config.model_validate(
        {
            "public_url": f"http://127.0.0.1:{port}",
            "provider": {
                "issuer": "https://idp.test",
                "client_id": "x",
                "client_secret": {"env": "X"},
                "allow": {"domains": ["strad.test"]},
            },
            "servers": [
                {"name": s["slug"].title(), "access": everyone, "timeout": 5} | s for s in servers
            ],
            "entitlements": {"keep": 1, "keep_denied": 1},
        }
        | more
    )


@asynccontextmanager
async def house(
    servers: list[dict[str, Any]],
    *,
    store: KeyValue | None = None,
    credentials: dict[str, dict[str, str]] | None = None,
    config_path: Path | None = None,
    refresh_token: str | None = None,
    **more: Any,
) -> AsyncIterator[House]:
    """A running relay in front of these servers. It follows the file, which is written for it."""
    port, clock = free_ports(1)[0], Clock()
    config = config_of(servers, port, **more)
    kept = store if store is not None else MemoryKeyValue(clock)
    apphost_key = new_signing_key()
    base = Base(
        service=Service.RELAY,
        config=config,
        seal=Seal([b"s" * 32], b"i" * 32),
        redis_url="",
        redis_password="",
        bind="127.0.0.1",
        port=port,
        internal_port=0,
    )
    settings = Settings(
        base=base,
        grant_seal=Seal([b"g" * 32], b"i" * 32),
        audit_seal=Seal([b"a" * 32], b"a" * 32),
        identity_key=new_signing_key(),
        apphost_keys=_public(apphost_key),
        credentials=credentials or {},
        refresh_token=refresh_token,
        config_path=config_path,
    )
    if config_path is not None:
        write_config(config_path, config)
    public, internal = build(settings, kept, clock)
    async with (
        listening(base, public, internal) as (_, internal_port),
        aiohttp.ClientSession() as http,
    ):
        yield House(
            url=config.public_url,
            internal_url=f"http://127.0.0.1:{internal_port}",
            config=config,
            settings=settings,
            store=kept,
            clock=clock,
            apphost_key=apphost_key,
            http=http,
        )


def write_config(path: Path, config: Config) -> None:
    """A configuration as the file that it could have been read from."""
    path.write_text(yaml.safe_dump(config.model_dump(mode="json")))


def _public(key: Any) -> Any:
    return KeySet([ECKey.import_key(key.as_dict(private=False))])
