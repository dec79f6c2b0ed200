"""A second stack, for tests that break parts of it: short deadlines, data on disk."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from demo.run.ports import free_ports
from demo.run.settings import DEMO_CONFIG, Settings
from tests.live import LiveStack
from tests.stack.machines import machines_in

DEADLINE_SECONDS = 2


@pytest.fixture(scope="package")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStack]:
    """A stack whose parts may be stopped; who stops one starts it again."""
    folder = tmp_path_factory.mktemp("fragile")
    config = quick_config(folder / "strad.yaml", machines_in(folder))
    (port,) = free_ports(1, in_a_row=2)
    with LiveStack(Settings(port, config=config, data=folder / "data", faults=True)) as live:
        yield live


def quick_config(path: Path, machines: list[dict[str, Any]]) -> Path:
    """The demo's configuration with a catalogue that has two seconds to answer, and machines."""
    value = yaml.safe_load(DEMO_CONFIG.read_text()) | {"oauth": {"machines": machines}}
    catalog = next(server for server in value["servers"] if server["slug"] == "catalog")
    catalog["timeout"] = DEADLINE_SECONDS
    path.write_text(yaml.safe_dump(value))
    return path
