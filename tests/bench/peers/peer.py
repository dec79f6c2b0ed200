"""What the bench needs to know of another relay that is running."""

from dataclasses import dataclass

from demo.run.child import Child
from tests.bench.caller import Call


@dataclass(frozen=True)
class Peer:
    """The call that goes through it, and the processes that it adds, each with its children."""

    call: Call
    processes: tuple[Child, ...]
