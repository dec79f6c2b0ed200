"""Running a service: two ports, one end. SIGTERM and Ctrl-C stop accepting, finish, close."""

import asyncio
import contextlib
import hmac
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from shared import log, metrics
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import HEALTH_PATH, METRICS_PATH, READY_PATH
from shared.settings import Base, SettingsWrong
from shared.stores.kv import KeyValue
from shared.web.routes import Access, Answer, Route

GRACE_SECONDS = 10.0
MAX_LINE = 32 * 1024


def health_routes(store: KeyValue, metrics_token: str) -> list[Route]:
    """Alive and ready (Redis answers), for anybody on the internal port: they carry no data.

    And metrics, for who holds the token: servers beside the relay reach its internal port too.
    """

    async def alive(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def ready(_: web.Request) -> web.Response:
        await store.ping()
        return web.Response(text="ready\n")

    async def numbers(_: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), content_type="text/plain")

    async def check(request: web.Request) -> None:
        given = request.headers.getall("Authorization", [])
        sent = given[0].encode(errors="surrogateescape") if len(given) == 1 else b""
        expected = f"Bearer {metrics_token}".encode()
        if not metrics_token or not hmac.compare_digest(sent, expected):
            advice = "Send what the file metrics.token among the service's keys holds, as `Bearer`."
            title = "Metrics need their token."
            raise Problem(ProblemKind.SIGN_IN_NEEDED, title, advice, reason="metrics-token")

    return [
        Route("GET", HEALTH_PATH, alive, Access.PUBLIC, Answer.JSON),
        Route("GET", READY_PATH, ready, Access.PUBLIC, Answer.JSON),
        Route("GET", METRICS_PATH, numbers, Access.GUARDED, Answer.JSON, check),
    ]


@asynccontextmanager
async def listening(
    base: Base, public: web.Application, internal: web.Application
) -> AsyncIterator[tuple[int, int]]:
    """Serve both ports; gives the real port numbers. A handler is cancelled when its caller leaves.

    (That is how a caller of MCP 2026-07-28 cancels a call.)
    """
    async with contextlib.AsyncExitStack() as stack:
        ports = []
        for app, port in ((internal, base.internal_port), (public, base.port)):
            runner = web.AppRunner(
                app,
                handler_cancellation=True,
                access_log=None,
                shutdown_timeout=GRACE_SECONDS,
                # more than the edge lets through: a refusal made here shows the caller the line
                max_line_size=MAX_LINE,
                max_field_size=MAX_LINE,
            )
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, base.bind, port).start()
            ports.append(int(runner.addresses[0][1]))
        log.event("ready", service=base.service, port=ports[1], internal_port=ports[0])
        yield ports[1], ports[0]
    log.event("ended", service=base.service)


async def until_stopped() -> None:
    """Return on SIGTERM or SIGINT."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    await stopped.wait()


def run(load: Callable[[], tuple[Base, web.Application, web.Application]]) -> None:
    """A service's whole life. Exits 1 with every mistake named when the settings are wrong."""

    async def serve() -> None:
        base, public, internal = load()
        async with listening(base, public, internal):
            await until_stopped()

    log.configure()
    try:
        asyncio.run(serve())
    except SettingsWrong as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"cannot listen: {error.strerror or error}")
