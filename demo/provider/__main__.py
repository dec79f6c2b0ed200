"""`python -m demo.provider`: bind, say where, serve until SIGTERM or Ctrl-C."""

import asyncio
import os
import signal
import socket
import sys
from dataclasses import replace

from aiohttp import web

from demo.provider.app import create_app
from demo.provider.keys import Keys
from demo.provider.settings import Settings, SettingsError, load


def bound(settings: Settings) -> tuple[socket.socket, Settings]:
    """A listening socket, and the settings with the port and issuer that follow from it."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    sock = socket.create_server((settings.host, settings.port), family=family, backlog=128)
    port = sock.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return sock, replace(settings, port=port, issuer=settings.issuer or f"http://{host}:{port}")


async def serve(sock: socket.socket, settings: Settings, keys: Keys) -> None:
    """Serves on `sock` until SIGTERM or SIGINT, then ends within two seconds."""
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    runner = web.AppRunner(create_app(settings, keys), access_log=None, shutdown_timeout=2)
    await runner.setup()
    try:
        await web.SockSite(runner, sock).start()
        print(f"demo provider ready at {settings.issuer}", flush=True)
        await stop.wait()
    finally:
        await runner.cleanup()


def main() -> int:
    try:
        sock, settings = bound(load(os.environ))
        keys = Keys(settings.state_dir)
    except (SettingsError, OSError) as error:
        print(f"demo provider cannot start: {error}", file=sys.stderr)
        return 1
    asyncio.run(serve(sock, settings, keys))
    return 0


if __name__ == "__main__":
    sys.exit(main())
