"""The four published servers: what is known of each, and how it is started."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers
from demo.run.settings import ROOT
from tests.peers.process import running

MODULES = ROOT / "node_modules"
NODE = MODULES / "node" / "bin" / "node"
PRELOAD = Path(__file__).parent / "loopback_only.mjs"


@dataclass(frozen=True)
class Published:
    """`tool` declares `page`; `tools` are all of them. `slug` is also its name in the npm scope."""

    slug: str
    name: str
    tool: str
    page: str
    tools: tuple[str, ...]

    @property
    def program(self) -> Path:
        """What Node runs."""
        return MODULES / "@modelcontextprotocol" / f"server-{self.slug}" / "dist" / "index.js"


SERVERS = (
    Published(
        slug="basic-vanillajs",
        name="Server time",
        tool="get-time",
        page="ui://get-time/mcp-app.html",
        tools=("get-time",),
    ),
    Published(
        slug="system-monitor",
        name="System monitor",
        tool="get-system-info",
        page="ui://system-monitor/mcp-app.html",
        tools=("get-system-info", "poll-system-stats"),
    ),
    Published(
        slug="budget-allocator",
        name="Budget allocator",
        tool="get-budget-data",
        page="ui://budget-allocator/mcp-app.html",
        tools=("get-budget-data",),
    ),
    Published(
        slug="cohort-heatmap",
        name="Cohort heatmap",
        tool="get-cohort-data",
        page="ui://get-cohort-data/mcp-app.html",
        tools=("get-cohort-data",),
    ),
)


def are_installed() -> bool:
    """Whether Node and all four are in node_modules."""
    return NODE.is_file() and all(server.program.is_file() for server in SERVERS)


@contextmanager
def published(folder: Path) -> Iterator[Mapping[str, str]]:
    """All four, running; gives the address of each by its slug. Logs go into `folder`."""
    with ExitStack() as stack:
        urls = {}
        for server, port in zip(SERVERS, free_ports(len(SERVERS)), strict=True):
            command = [str(NODE), "--import", PRELOAD.as_uri(), str(server.program)]
            log = folder / f"{server.slug}.log"
            ready = answers(port, "/")
            stack.enter_context(running(command, log, ready, {"PORT": str(port)}))
            urls[server.slug] = f"http://{LOOPBACK}:{port}/mcp"
        yield urls
