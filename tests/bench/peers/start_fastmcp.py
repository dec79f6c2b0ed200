"""FastMCP's proxy, started: in its default, a client for each request, or with one for all."""

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from joserfc import jwt
from joserfc.jwk import OctKey

from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers
from tests.bench.caller import Call, Era
from tests.bench.peers.installed import Installed, Package
from tests.bench.peers.peer import Peer
from tests.peers.process import running

PACKAGE = Package("fastmcp", "fastmcp", least=(3, 11), below=(3, 15))
CLIENTS = ("default", "shared")
_PROXY = Path(__file__).parent / "fastmcp_proxy.py"
_START_SECONDS = 60.0
_TOKEN_SECONDS = 24 * 3600


@contextmanager
def fastmcp(folder: Path, found: Installed, server: str, clients: str) -> Iterator[Peer]:
    """In front of one server. It asks for a signed token, as the relay asks for its own."""
    (port,) = free_ports(1)
    secret = secrets.token_urlsafe(48)
    claims = {"sub": "ada", "exp": int(time.time()) + _TOKEN_SECONDS}
    token = jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(secret))
    log, ready = folder / f"fastmcp-{clients}.log", answers(port, "/")
    command = [found.program("python"), "-P", str(_PROXY), clients, str(port), server]
    with running(command, log, ready, {"JWT_SECRET": secret}, folder, _START_SECONDS) as proxy:
        headers = {"Authorization": f"Bearer {token}"}
        call = Call(f"http://{LOOPBACK}:{port}/mcp", Era.MODERN, headers)
        yield Peer(call, (proxy,))
