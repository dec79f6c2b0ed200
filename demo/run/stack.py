"""Starts the processes in order, watches them, and ends them in the opposite order."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from cli.keys import make_keys
from demo.run.child import Child, start_guard
from demo.run.folder import Folder
from demo.run.plan import Part, Plan, Ports
from demo.run.ports import is_free
from demo.run.settings import ROOT, Settings

START_SECONDS = 60.0  # a cold machine reads a few hundred megabytes first
_POLL_SECONDS = 0.03
# how long a tier may take to end in order, before it is killed
_GRACE_SECONDS = 5.0
_EDGE_SECONDS = 1.5  # it would wait for every open stream, and clients keep some open for hours


class PortTaken(Exception):
    """A port that must be ours cannot be had. `port` names it."""

    def __init__(self, port: int, purpose: str, why: str) -> None:
        super().__init__(f"Port {port}, {purpose}, {why}.")
        self.port = port


class PartFailed(Exception):
    """A process ended by itself, or is not ready in time. `log` holds its last lines."""

    def __init__(self, name: str, how: str, log: str) -> None:
        super().__init__(f"{name} {how}.")
        self.add_note(log)
        self.name, self.log = name, log


class Interrupted(Exception):
    """Somebody asked for the end while the start was under way."""


class Stack:
    """All of strad on this machine. Use it as a context manager: inside, everything is ready.

    `url` is the edge, `provider_url` the demo's sign-in page; `ports` and `internal_ports` are
    those behind the edge, by service name. Raises on entry what `Folder`, `Plan` and this module
    raise; whatever had been started is ended then.
    """

    def __init__(self, settings: Settings, wanted: Callable[[], bool] = lambda: True) -> None:
        self.settings = settings
        self.url = settings.public_url
        self.provider_url = f"http://127.0.0.1:{settings.provider_port}"
        self.ready_seconds = 0.0
        self._wanted = wanted
        self._children: dict[str, Child] = {}
        self._guard: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        started = time.monotonic()
        self._refuse_taken_ports()
        self.folder = Folder(self.settings.data)
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        self.ready_seconds = time.monotonic() - started
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _open(self) -> None:
        make_keys(self.folder.keys)
        ports = Ports.choose(self.settings)
        self.ports, self.internal_ports, self.redis_port = ports.public, ports.internal, ports.redis
        self.plan = Plan(self.settings, self.folder, ports)
        self._parts = {part.name: part for part in self.plan.parts}
        self._guard = start_guard(None if self.folder.kept else self.folder.path)
        for part in self.plan.parts:
            log = self.folder.logs / f"{part.name}.log"
            log.unlink(missing_ok=True)  # the log of the last run with this folder
            self._children[part.name] = Child(part.name, log, self._guard.pid)
            self._launch(part)
        # all start at once: readiness lasts, so waiting for one after the other is no slower
        for part in self.plan.parts:
            self._await(part)

    def _refuse_taken_ports(self) -> None:
        purposes = {self.settings.port: "the one people and clients use"}
        if self.settings.demo:
            purposes[self.settings.provider_port] = "which the demo's sign-in page needs"
        for port, purpose in purposes.items():
            try:
                why = "" if is_free(port) else "is taken by another program or another run"
            except PermissionError:
                why = "is for the system's administrator"
            if why:
                raise PortTaken(port, purpose, why)

    def _launch(self, part: Part) -> None:
        self._children[part.name].start(part.command, part.environment, ROOT)

    def _await(self, part: Part) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not part.ready():
            self.check()
            if not self._wanted():
                raise Interrupted
            if time.monotonic() > deadline:
                how = f"is not ready after {START_SECONDS:.0f} seconds"
                raise PartFailed(part.name, how, self._children[part.name].tail())
            time.sleep(_POLL_SECONDS)

    @property
    def names(self) -> tuple[str, ...]:
        """The processes, in the order of their start."""
        return tuple(self._children)

    @property
    def group(self) -> int:
        """The process group that all of them are in."""
        return self._guard.pid if self._guard else 0

    def child(self, name: str) -> Child:
        """One process."""
        return self._children[name]

    def check(self) -> None:
        """Raise `PartFailed` if a process has ended that nobody ended."""
        for name, child in self._children.items():
            if child.pid and not child.running:
                raise PartFailed(name, f"ended by itself ({child.exit_status})", child.tail())
        if self._guard is not None and self._guard.poll() is not None:
            raise PartFailed("guard", "ended by itself", "")

    def stop(self, name: str, *, kill: bool = False) -> None:
        """End one process and leave the others running."""
        child = self._children[name]
        if not kill:
            child.signal(signal.SIGTERM)
        if kill or not child.ended(_GRACE_SECONDS):
            child.kill()

    def start(self, name: str, *, wait: bool = True) -> None:
        """Start a process again that was stopped, and wait until it is ready."""
        part = self._parts[name]
        self._launch(part)
        if not wait:
            return
        deadline = time.monotonic() + START_SECONDS
        while not part.ready():
            child = self._children[name]
            if not child.running or time.monotonic() > deadline:
                raise PartFailed(name, f"did not start again ({child.exit_status})", child.tail())
            time.sleep(_POLL_SECONDS)

    def log(self, name: str) -> str:
        """Everything that a process has written."""
        return self._children[name].log.read_text(errors="replace")

    def close(self) -> None:
        """End everything, the edge first and Redis last; nothing is left. May be called again."""
        for tier in self._tiers():
            for child in tier:
                child.signal(signal.SIGTERM)
            seconds = _EDGE_SECONDS if tier[0].name == "edge" else _GRACE_SECONDS
            deadline = time.monotonic() + seconds
            for child in tier:
                if not child.ended(deadline - time.monotonic()):
                    child.kill()
        if self._guard is not None:
            # the guard with whatever its group still holds, say, a fork of Redis
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._guard.pid, signal.SIGKILL)
            self._guard.communicate()
            self._guard = None
        self.folder.close()

    def _tiers(self) -> Iterator[list[Child]]:
        parts = {part.name: part for part in self.plan.parts} if self._children else {}
        for tier in sorted({part.tier for part in parts.values()}, reverse=True):
            yield [c for name, c in self._children.items() if parts[name].tier == tier]
