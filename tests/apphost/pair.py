"""apphost in front of a real relay, in front of servers that a test makes up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
from aiohttp import web

from services.apphost.app import build
from services.apphost.settings import Settings
from shared.contracts.identity import Session, SessionKind
from shared.contracts.wire import SESSION_COOKIE
from shared.stores.sessions import SessionWriter
from shared.web.lines import LINES_TYPE
from tests.apphost.console import listen
from tests.relay.house import House, house

CALL = {"name": "go", "arguments": {}, "page": "ui://toys/view.html", "surface": "app"}


@dataclass
class Pair:
    """`url`: of the console. Requests carry ada's session and come from the console itself."""

    url: str
    house: House
    cookie: str

    @asynccontextmanager
    async def calling(
        self, body: Any = CALL, *, slug: str = "a", accept: str = LINES_TYPE
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The host page's script calls a tool."""
        headers = {
            "Cookie": f"{SESSION_COOKIE}={self.cookie}",
            "Origin": self.url,
            "Sec-Fetch-Site": "same-origin",
            "Accept": accept,
        }
        async with self.house.http.post(
            f"{self.url}/apps/{slug}/tools/call", json=body, headers=headers
        ) as response:
            yield response


@asynccontextmanager
async def pair(
    servers: list[dict[str, Any]], *, public_url: str | None = None, port: int = 0
) -> AsyncIterator[Pair]:
    """Both services on real sockets; a handler is cancelled when its caller leaves, as in life.

    `public_url`: of the edge in front of them, which reaches apphost at `port`.
    """
    async with house(servers) as h:
        sock = listen(port)
        url = public_url or f"http://127.0.0.1:{sock.getsockname()[1]}"
        base = h.settings.base
        config = base.config.model_copy(update={"public_url": url})
        own = Settings(replace(base, config=config), h.apphost_key, h.internal_url)
        public, _ = build(own, h.store, h.clock)
        runner = web.AppRunner(
            public, access_log=None, handler_cancellation=True, shutdown_timeout=1
        )
        await runner.setup()
        await web.SockSite(runner, sock).start()
        now = int(h.clock())
        session = Session(
            kind=SessionKind.OIDC,
            person=h.person("ada"),
            created=now,
            expires=now + 3600,
            idle_seconds=3600,
        )
        writer = SessionWriter(h.store, base.seal, h.clock)
        yield Pair(url, h, await writer.begin(session))
        await runner.cleanup()
