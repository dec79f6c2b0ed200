"""Where a run keeps its keys, its data and its logs."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path


class FolderTaken(Exception):
    """Another run uses this data folder."""


class Folder:
    """A given folder, which is kept, or a temporary one, which `close` removes.

    Raises `FolderTaken`, or `OSError` when it cannot be made.
    """

    def __init__(self, given: Path | None) -> None:
        self.kept = given is not None
        self.path = given.resolve() if given else Path(tempfile.mkdtemp(prefix="strad-")).resolve()
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            # held until this process ends, however it ends; two servers on one log lose data
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise FolderTaken(
                f"The data folder {self.path} is in use by another run.\n"
                "  fix: end that one (Ctrl-C), or choose another: make run STRAD_DATA=./other"
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
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
