"""A static aiohttp server: `python -m tests.bench.bare_host PORT FOLDER`.

It serves three files of a folder, read once: `page` (a host page that does the least), `frame` and
`result`. What it takes to open a page there is the floor for any host.
"""

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from demo.run.ports import LOOPBACK

KINDS = {"page": "text/html", "frame": "text/html", "result": "application/json"}


def create_app(folder: Path) -> web.Application:
    """The server of these files."""
    app = web.Application()
    for name, kind in KINDS.items():
        app.router.add_get(f"/{name}", _constant((folder / name).read_bytes(), kind))
    return app


def _constant(body: bytes, kind: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def get(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type=kind, charset="utf-8")

    return get


if __name__ == "__main__":
    app = create_app(Path(sys.argv[2]))
    web.run_app(app, host=LOOPBACK, port=int(sys.argv[1]), print=None, access_log=None)
