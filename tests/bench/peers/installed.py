"""Environments of other relays: `.cache/bench-peers/NAME`, made anew when their lock changes."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from demo.run.settings import ROOT

CACHE = ROOT / ".cache" / "bench-peers"
_SAY_VERSIONS = (
    "import platform, sys; from importlib.metadata import version;"
    "print(version(sys.argv[1]), platform.python_version())"
)
_LINES = 4


class NotInstalled(Exception):
    """It cannot be had on this machine. The message says why, for the report."""


@dataclass(frozen=True)
class Package:
    """`name`: of its lock. `least`, `below`: versions of Python that it works with."""

    name: str
    distribution: str
    least: tuple[int, int]
    below: tuple[int, int]

    @property
    def lock(self) -> Path:
        """Its pinned versions, with hashes."""
        return ROOT / "requirements" / f"peer-{self.name}.lock"

    @property
    def pythons(self) -> str:
        """What it works with, as uv writes it."""
        return f">={'.'.join(map(str, self.least))},<{'.'.join(map(str, self.below))}"

    @property
    def python(self) -> str:
        """This Python, as the relay's, where it works with that; else what to look for."""
        fits = self.least <= sys.version_info[:2] < self.below
        return sys.executable if fits else self.pythons


@dataclass(frozen=True)
class Installed:
    """`folder`: of the environment. `version`: of the package; `python`: of what runs it."""

    folder: Path
    version: str
    python: str

    def program(self, name: str) -> str:
        """One of its commands."""
        return str(self.folder / "bin" / name)


def installed(package: Package, cache: Path = CACHE) -> Installed:
    """The environment, made if it is not there yet. Raises `NotInstalled`."""
    folder, stamp = cache / package.name, cache / package.name / "lock.sha256"
    wanted = hashlib.sha256(package.lock.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        python = str(folder / "bin" / "python")
        try:
            _uv(package, "venv", "--clear", "--python", package.python, str(folder))
        except NotInstalled as why:
            text = f"needs Python {package.pythons}; none is found here, and uv gets none: {why}"
            raise NotInstalled(text) from None
        lock = ("--require-hashes", "-r", str(package.lock))
        _uv(package, "pip", "install", "--python", python, *lock)
        stamp.write_text(wanted)
    command = [str(folder / "bin" / "python"), "-c", _SAY_VERSIONS, package.distribution]
    version, python = _output(command, dict(os.environ)).split()
    return Installed(folder, version, python)


def _uv(package: Package, *arguments: str) -> None:
    path = os.pathsep.join((os.environ.get("PATH", ""), *map(str, _of_pyenv(package))))
    _output([sys.executable, "-m", "uv", "--quiet", *arguments], {**os.environ, "PATH": path})


def _of_pyenv(package: Package) -> list[Path]:
    """Folders of versions that are not chosen: for those pyenv's commands on the path fail."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    minors = range(package.least[1], package.below[1])
    names = [name for minor in minors for name in root.glob(f"versions/*/bin/python3.{minor}")]
    return [name.parent for name in names]


def _output(command: Sequence[str], variables: dict[str, str]) -> str:
    done = subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise NotInstalled(" ".join(lines[-_LINES:]) or f"{command[0]} failed")
    return done.stdout
