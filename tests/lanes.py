"""Two folders at a time, as `make test` runs them (`-n 2` of pytest-xdist).

The tests of one folder stay in one process and in their order, and so share what they start: a
stack, a browser, the containers. What takes longest begins first.
"""

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

# Chromium drops what it is loading whenever a network of the machine comes or goes, as those of
# containers do: who uses the one or the other is one after the other
ONE_AFTER_ANOTHER = frozenset(
    f"tests/{name}" for name in ("auth", "bench", "browser", "compose", "demo", "real")
)
LONGEST_FIRST = tuple(
    f"tests/{name}" for name in ("browser", "stack", "relay", "firefox", "conformance")
)


class FolderByFolder(LoadScopeScheduling):
    """Each process takes a whole folder, and then the next."""

    def _split_scope(self, nodeid: str) -> str:
        """The folder of a test; one name for all of `ONE_AFTER_ANOTHER`."""
        folder = nodeid.partition("::")[0].rpartition("/")[0]
        return "tests/browser" if folder in ONE_AFTER_ANOTHER else folder

    def _assign_work_unit(self, node: WorkerController) -> None:
        for folder in reversed(LONGEST_FIRST):
            if folder in self.workqueue:
                self.workqueue.move_to_end(folder, last=False)
        super()._assign_work_unit(node)
