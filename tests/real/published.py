"""The published servers: what is known of each, and how they are started."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
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
_AT_ONCE = 4


@dataclass(frozen=True)
class Published:
    """One server. `slug` is also its name in the npm scope; `name` is what strad.yaml calls it.

    `tool` declares the page `ui://{page}/mcp-app.html`; `more` are its other tools. `structured`:
    whether the answer of `tool` has structured content.
    """

    slug: str
    name: str
    tool: str
    page: str
    more: tuple[str, ...] = ()
    structured: bool = True

    @property
    def uri(self) -> str:
        """The page's address."""
        return f"ui://{self.page}/mcp-app.html"

    @property
    def tools(self) -> set[str]:
        """All of its tools."""
        return {self.tool, *self.more}

    @property
    def program(self) -> Path:
        """What Node runs."""
        return MODULES / "@modelcontextprotocol" / f"server-{self.slug}" / "dist" / "index.js"


def _time(slug: str, name: str, structured: bool = False) -> Published:
    """The same tool and the very same `ui://` address, from six servers."""
    return Published(slug, name, "get-time", "get-time", structured=structured)


SERVERS = (
    _time("basic-vanillajs", "Server time", structured=True),
    _time("basic-react", "Time in React"),
    _time("basic-vue", "Time in Vue"),
    _time("basic-svelte", "Time in Svelte"),
    _time("basic-solid", "Time in Solid"),
    _time("basic-preact", "Time in Preact"),
    Published(
        "system-monitor",
        "System monitor",
        "get-system-info",
        "system-monitor",
        ("poll-system-stats",),
    ),
    Published("budget-allocator", "Budget allocator", "get-budget-data", "budget-allocator"),
    Published("cohort-heatmap", "Cohort heatmap", "get-cohort-data", "get-cohort-data"),
    Published(
        "customer-segmentation", "Customer segments", "get-customer-data", "customer-segmentation"
    ),
    Published("scenario-modeler", "Scenario modeler", "get-scenario-data", "scenario-modeler"),
    Published("shadertoy", "Shader toy", "render-shadertoy", "shadertoy", structured=False),
    Published("threejs", "Three dimensions", "show_threejs_scene", "threejs", ("learn_threejs",)),
    Published("wiki-explorer", "Wiki explorer", "get-first-degree-links", "wiki-explorer"),
    Published("debug", "Debug page", "debug-tool", "debug-tool", ("debug-refresh", "debug-log")),
    Published("map", "World map", "show-map", "cesium-map", ("geocode",), structured=False),
)


def are_installed() -> bool:
    """Whether Node and all of them are in node_modules."""
    return NODE.is_file() and all(server.program.is_file() for server in SERVERS)


@contextmanager
def published(folder: Path) -> Iterator[Mapping[str, str]]:
    """All of them, running; gives the address of each by its slug. Logs go into `folder`."""
    ports = dict(zip(SERVERS, free_ports(len(SERVERS)), strict=True))

    def start(server: Published) -> None:
        command = [str(NODE), "--import", PRELOAD.as_uri(), str(server.program)]
        log = folder / f"{server.slug}.log"
        ready = answers(ports[server], "/")
        stack.enter_context(running(command, log, ready, {"PORT": str(ports[server])}))

    with ExitStack() as stack, ThreadPoolExecutor(_AT_ONCE) as starters:
        list(starters.map(start, SERVERS))
        yield {server.slug: f"http://{LOOPBACK}:{port}/mcp" for server, port in ports.items()}
