"""Two folders at a time, as `make test` runs them (`-n 2` of pytest-xdist).

The tests of one folder stay in one process and in their order, and so share what they start: a
stack, a browser, the containers. What takes longest begins first.
"""

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

LONGEST_FIRST = tuple(
    f"tests/{name}"
    for name in ("browser", "stack", "relay", "auth", "compose", "firefox", "conformance", "bench")
)


class FolderByFolder(LoadScopeScheduling):
    """Each process takes a whole folder, and then the next."""

    def _split_scope(self, nodeid: str) -> str:
        """The folder of a test."""
        return nodeid.partition("::")[0].rpartition("/")[0]

    def _assign_work_unit(self, node: WorkerController) -> None:
        for folder in reversed(LONGEST_FIRST):
            if folder in self.workqueue:
                self.workqueue.move_to_end(folder, last=False)
        super()._assign_work_unit(node)
