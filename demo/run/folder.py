"""Where a run keeps its keys, its data and its logs."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path


class FolderUnusable(Exception):
    """The data folder cannot be used; the text says why, and what to do."""


class Folder:
    """A given folder, which is kept, or a temporary one, which `close` removes.

    Raises `FolderUnusable`.
    """

    def __init__(self, given: Path | None) -> None:
        self.kept = given is not None
        self.path = given.resolve() if given else Path(tempfile.mkdtemp(prefix="strad-")).resolve()
        self._lock = -1
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            # held until this process ends, however it ends; two servers on one log lose data
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            taken = isinstance(error, BlockingIOError)
            why = "another run uses it" if taken else (error.strerror or str(error))
            self._let_go()
            raise FolderUnusable(
                f"The data folder {self.path} cannot be used: {why}.\n"
                "  fix: choose another: make run STRAD_DATA=./other"
            ) from error

    @property
    def keys(self) -> Path:
        """One folder of secrets for each service, and the user list of Redis."""
        return self.path / "keys"

    @property
    def logs(self) -> Path:
        """One file for each process."""
        return self.made("logs")

    def made(self, name: str) -> Path:
        """A folder in it, for one process alone."""
        path = self.path / name
        path.mkdir(exist_ok=True, mode=0o700)
        return path

    def close(self) -> None:
        """Let go of it; a temporary one is removed."""
        if not self.kept:
            shutil.rmtree(self.path, ignore_errors=True)
        self._let_go()

    def _let_go(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
