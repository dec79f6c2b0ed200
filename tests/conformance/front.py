"""A loopback front: passes everything on as it came, and may add headers or answer itself.

`Host` and `Origin` pass as well, so that the package's DNS rebinding checks are answered by what is
behind the front.
"""

import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, web
from aiohttp.client_exceptions import ClientConnectionResetError, ClientConnectorError

from demo.run.ports import LOOPBACK

_OWN_HOP = frozenset({"connection", "content-length", "keep-alive", "transfer-encoding"})

Rule = Callable[[web.Request, bytes], Mapping[str, str] | web.Response]
"""What a front does with a request and its body: headers to set, or an answer of its own."""


@asynccontextmanager
async def front(port: int, target: str | Sequence[str], rule: Rule) -> AsyncIterator[None]:
    """Serve on a port, in front of an origin; of several, each request goes to the next one."""
    all_targets = [target] if isinstance(target, str) else list(target)
    targets = itertools.cycle(all_targets)
    timeout = ClientTimeout(total=None)
    async with ClientSession(
        auto_decompress=False, cookie_jar=DummyCookieJar(), timeout=timeout
    ) as http:

        async def forward(request: web.Request) -> web.StreamResponse:
            body = await request.read()
            added = rule(request, body)
            if isinstance(added, web.Response):
                return added
            replaced = _OWN_HOP | {name.lower() for name in added}
            headers = [(k, v) for k, v in request.headers.items() if k.lower() not in replaced]

            async def ask() -> ClientResponse:
                return await http.request(
                    request.method,
                    next(targets) + request.raw_path,
                    headers=[*headers, *added.items()],
                    data=body or None,
                    skip_auto_headers=("Accept", "User-Agent", "Content-Type"),
                    allow_redirects=False,
                )

            async with await _of_one_that_listens(ask, len(all_targets)) as answer:
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
            await web.TCPSite(runner, LOOPBACK, port).start()
            yield
        finally:
            await runner.cleanup()


async def _of_one_that_listens(
    ask: Callable[[], Awaitable[ClientResponse]], targets: int
) -> ClientResponse:
    """The answer. A target where nobody listens has taken nothing, so the next one is asked."""
    for _ in range(targets - 1):
        with contextlib.suppress(ClientConnectorError):
            return await ask()
    return await ask()


def with_token(token: str) -> Rule:
    """For callers that cannot send one."""
    return lambda request, body: {"Authorization": f"Bearer {token}"}


def only_modern(request: web.Request, body: bytes) -> Mapping[str, str] | web.Response:
    """A server that speaks 2026-07-28 and nothing older."""
    if _is_modern(request):
        return {}
    data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    return _refusal(body, -32022, "Unsupported protocol version", data)


def only_legacy(request: web.Request, body: bytes) -> Mapping[str, str] | web.Response:
    """A server of the time before 2026-07-28, as most are: it misses the session."""
    if not _is_modern(request):
        return {}
    return _refusal(body, -32600, "Bad Request: Missing session ID")


def _is_modern(request: web.Request) -> bool:
    return request.headers.get("MCP-Protocol-Version") == "2026-07-28"


def _refusal(body: bytes, code: int, message: str, data: object = None) -> web.Response:
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    number = json.loads(body).get("id") if body else None
    return web.json_response({"jsonrpc": "2.0", "id": number, "error": error}, status=400)
