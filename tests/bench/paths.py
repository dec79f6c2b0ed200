"""Everything that the calls need, started: two servers, a hop to each, and the relay with both."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from demo.run.child import Child
from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers
from tests.bench.caller import Call, Era
from tests.peers.lone_relay import LoneRelay, lone_relay
from tests.peers.process import running

SERVERS = ("stub", "sdk")
WAYS = ("direct", "forwarder", "relay")


@dataclass(frozen=True)
class Paths:
    """`urls`: addresses by way and server. `between`: the processes that a way adds."""

    urls: dict[tuple[str, str], str]
    between: dict[tuple[str, str], list[Child]]
    relay: LoneRelay

    def call(self, way: str, server: str, era: Era) -> Call:
        """The tool call that goes this way. The relay wants its own Host, and the token."""
        headers = {}
        if way == "relay":
            headers["Host"] = urlsplit(self.relay.public_url).netloc
            headers["Authorization"] = f"Bearer {self.relay.token}"
        return Call(self.urls[way, server], era, headers)

    def pids(self, way: str, server: str) -> list[int]:
        """The processes that the way adds."""
        return [child.pid for child in self.between[way, server]]


@contextmanager
def paths(folder: Path) -> Iterator[Paths]:
    """Start all of it; logs and settings go into `folder`."""
    with ExitStack() as stack:
        urls: dict[tuple[str, str], str] = {}
        between: dict[tuple[str, str], list[Child]] = {}
        for server in SERVERS:
            _, url = _start(stack, folder, server, "tests.bench.upstreams", server, "{port}")
            urls["direct", server] = url
            between["direct", server] = []
            name = f"forwarder-{server}"
            hop, urls["forwarder", server] = _start(
                stack, folder, name, "tests.bench.forwarder", "{port}", url
            )
            between["forwarder", server] = [hop]
        (port,) = free_ports(1)
        servers = {server: urls["direct", server] for server in SERVERS}
        relay = stack.enter_context(lone_relay(folder, f"http://{LOOPBACK}:{port}", servers))
        for server in SERVERS:
            urls["relay", server] = f"{relay.url}/mcp/{server}"
            between["relay", server] = [relay.process, relay.store]
        yield Paths(urls, between, relay)


def _start(
    stack: ExitStack, folder: Path, name: str, module: str, *arguments: str
) -> tuple[Child, str]:
    (port,) = free_ports(1)
    filled = [argument.format(port=port) for argument in arguments]
    command = [sys.executable, "-m", module, *filled]
    ready = answers(port, "/")
    child = stack.enter_context(running(command, folder / f"{name}.log", ready, {}))
    return child, f"http://{LOOPBACK}:{port}/mcp"
