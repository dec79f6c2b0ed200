"""What each step of a rotation does to the files, and how they stand. The files are all there is.

`seal.next.key` beside `seal.key`: prepared. Several lines in `seal.key`: in use, with older keys.
Files are written one after the other, so a step that broke off left some folders behind: it finds
the key that it has made, and goes on with it.
"""

from pathlib import Path
from typing import Protocol


class Wrong(Exception):
    """A step that must not be done. `fix`: what to do instead."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


class Rotation(Protocol):
    """One key. The steps give the files that they wrote; they raise `Wrong` and `OSError`."""

    @property
    def readers(self) -> str:
        """The services that open or verify with it, by name."""

    def state(self, out: Path) -> str:
        """How it stands, and what comes next."""

    def prepare(self, out: Path) -> list[Path]:
        """Make a new key."""

    def use(self, out: Path) -> list[Path]:
        """Put it first."""

    def drop(self, out: Path) -> list[Path]:
        """Take the older ones away."""


def unprepared(where: str) -> Wrong:
    """`use` before `prepare`."""
    return Wrong(f"{where} has no new key.", "`prepare` first, and restart what it names")


def unused() -> Wrong:
    """`drop` before `use`."""
    return Wrong("A new key is prepared and not in use.", "`use` it first")
