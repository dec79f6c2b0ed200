"""How the two MCP servers listen: on a socket of their own, until SIGTERM or Ctrl-C."""

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp

GRACE_SECONDS = 2
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Address:
    """Where a server listens, what its clients call it, and under which other names."""

    host: str
    port: int
    self_url: str
    allowed_hosts: tuple[str, ...] = ()

    def transport_security(self) -> TransportSecuritySettings:
        """Only these Host headers, and no Origin: no browser page has business here."""
        own = self.self_url.split("/")[2]
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[own, f"{LOOPBACK}:{self.port}", *self.allowed_hosts],
            allowed_origins=[],
        )


def bind(environ: Mapping[str, str]) -> tuple[socket.socket, Address]:
    """HOST (127.0.0.1), PORT (0: any free one), SELF_URL, ALLOWED_HOSTS (commas between).

    SELF_URL is the address under which strad knows this server, and the audience of the identity
    it sends. Raises OSError and ValueError.
    """
    host = environ.get("HOST") or LOOPBACK
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.create_server((host, int(environ.get("PORT") or 0)), family=family, backlog=128)
    # asyncio does this only for sockets that it made itself; without it an answer, written as head
    # and body, waits up to 40 ms for the caller to acknowledge the head (delayed ACK, RFC 9293)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    port = sock.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    named = (environ.get("ALLOWED_HOSTS") or "").split(",")
    return sock, Address(
        host=host,
        port=port,
        self_url=environ.get("SELF_URL") or f"http://{shown}:{port}/mcp",
        allowed_hosts=tuple(name.strip() for name in named if name.strip()),
    )


async def healthz(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")


HEALTH = Route("/healthz", healthz)


class QuietServer(uvicorn.Server):
    """Ends with exit status 0: the signal is a request here, not a failure to raise again."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, self._stop)
        yield

    def _stop(self) -> None:
        self.should_exit = True


def run(name: str, environ: Mapping[str, str], create_app: Callable[[Address], ASGIApp]) -> int:
    """Serve one MCP server until it is told to end. Returns the exit status."""
    try:
        sock, address = bind(environ)
        app = create_app(address)
    except (OSError, ValueError, OverflowError) as error:
        print(f"{name} cannot start: {error}", file=sys.stderr)
        return 1
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    print(f"{name} ready at {address.self_url}", flush=True)
    asyncio.run(QuietServer(config).serve(sockets=[sock]))
    return 0
