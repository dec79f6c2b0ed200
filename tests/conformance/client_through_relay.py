"""The SDK's conformance client, with a relay between it and the server that watches it.

`python -m tests.conformance.client_through_relay URL`: the package starts this for each scenario.
"""

import asyncio
import runpy
import sys

from demo.run.ports import LOOPBACK, free_ports
from tests.conformance.example_server import unpacked
from tests.conformance.front import front
from tests.relay.house import house

SLUG = "harness"


async def run(url: str) -> int:
    """The client's exit status."""
    async with house([{"slug": SLUG, "url": url, "timeout": 20}]) as h:
        headers = await h.bearer() | {"Host": h.url.removeprefix("http://")}
        (port,) = free_ports(1)
        async with front(port, h.url, lambda request, body: headers):
            sys.argv[1:] = [f"http://{LOOPBACK}:{port}/mcp/{SLUG}"]
            return await asyncio.to_thread(_client)


def _client() -> int:
    try:
        # with a loop of its own, in this thread
        runpy.run_module("mcp_conformance_client", run_name="__main__")
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(unpacked()))
    sys.exit(asyncio.run(run(sys.argv[-1])))
