"""A loopback front that adds the token, which the conformance package cannot send.

It stands where the edge stands: the relay's public address is this one's, and `Host` and `Origin`
pass as they came, so that the package's DNS rebinding checks are answered by the relay.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, web
from aiohttp.client_exceptions import ClientConnectionResetError

from demo.run.ports import LOOPBACK
from tests.peers.lone_relay import LoneRelay

_OWN_HOP = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})


@asynccontextmanager
async def bearer_front(relay: LoneRelay) -> AsyncIterator[None]:
    """Serve at the relay's public address and pass everything to it with the token."""
    timeout = ClientTimeout(total=None)
    async with ClientSession(
        auto_decompress=False, cookie_jar=DummyCookieJar(), timeout=timeout
    ) as http:

        async def forward(request: web.Request) -> web.StreamResponse:
            headers = [(k, v) for k, v in request.headers.items() if k.lower() not in _OWN_HOP]
            headers.append(("Authorization", f"Bearer {relay.token}"))
            async with http.request(
                request.method,
                relay.url + request.raw_path,
                headers=headers,
                data=await request.read() or None,
                skip_auto_headers=("Accept", "User-Agent", "Content-Type"),
                allow_redirects=False,
            ) as answer:
                response = web.StreamResponse(status=answer.status)
                for name, value in answer.headers.items():
                    if name.lower() not in _OWN_HOP:
                        response.headers.add(name, value)
                await response.prepare(request)
                try:
                    async for chunk in answer.content.iter_any():
                        await response.write(chunk)
                    await response.write_eof()
                except ClientConnectionResetError:
                    pass  # the package closes streams when it has seen enough
                return response

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", forward)
        runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=1)
        await runner.setup()
        try:
            await web.TCPSite(runner, LOOPBACK, urlsplit(relay.public_url).port).start()
            yield
        finally:
            await runner.cleanup()
