"""Keys that seal: hex, one a line, in the folders of all who seal or open."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from cli.rotation import Wrong, unprepared, unused
from cli.write import write
from shared.key_folder import next_of
from shared.keys import AUDITOR
from shared.signing import MIN_KEY_BYTES


@dataclass(frozen=True, slots=True)
class Sealing:
    """One such key."""

    file: str
    holders: tuple[str, ...]

    @property
    def readers(self) -> str:
        # `strad audit` reads it each time
        return ", ".join(one for one in self.holders if one != AUDITOR)

    def state(self, out: Path) -> str:
        who = self.readers
        if self._coming(out) is not None:
            return f"prepared: restart {who}; then `use`"
        if any(len(self._lines(out, one)) > 1 for one in self.holders):
            return f"in use, with older ones: restart {who}; `drop` when nothing old lives any more"
        return "one key"

    def prepare(self, out: Path) -> list[Path]:
        new = self._coming(out)
        if new is None:
            if len({tuple(self._lines(out, one)) for one in self.holders}) > 1:
                raise Wrong(f"{self.file} differs between folders.", "`strad keys` shares one")
            new = secrets.token_hex(MIN_KEY_BYTES)
        written = []
        for one in self.holders:
            place = out / one / next_of(self.file)
            if not place.exists() and self._lines(out, one)[0] != new:
                write(place, new + "\n", like=out / one / self.file)
                written.append(place)
        return written

    def use(self, out: Path) -> list[Path]:
        new = self._coming(out)
        if new is None:
            if all(len(self._lines(out, one)) > 1 for one in self.holders):
                return []
            raise unprepared(self.file)
        for one in self.holders:
            if not (out / one / next_of(self.file)).exists() and self._lines(out, one)[0] != new:
                raise unprepared(f"{one}/{self.file}")
        written = []
        for one in self.holders:
            place, lines = out / one / self.file, self._lines(out, one)
            if lines[0] != new:
                write(place, "\n".join([new, *lines]) + "\n")
                written.append(place)
            (out / one / next_of(self.file)).unlink(missing_ok=True)
        return written

    def drop(self, out: Path) -> list[Path]:
        if self._coming(out) is not None:
            raise unused()
        if len({self._lines(out, one)[0] for one in self.holders}) > 1:
            raise Wrong(f"{self.file} differs between folders.", "put the same one first in all")
        written = []
        for one in self.holders:
            place, lines = out / one / self.file, self._lines(out, one)
            if len(lines) > 1:
                write(place, lines[0] + "\n")
                written.append(place)
        return written

    def _coming(self, out: Path) -> str | None:
        places = [out / one / next_of(self.file) for one in self.holders]
        found = {line for place in places if place.exists() for line in _hex(place)}
        if len(found) > 1:
            fix = f"remove every {next_of(self.file)}, and `prepare` again"
            raise Wrong("The new key differs between folders.", fix)
        return next(iter(found), None)

    def _lines(self, out: Path, holder: str) -> list[str]:
        return _hex(out / holder / self.file)


def _hex(place: Path) -> list[str]:
    lines = place.read_text().split()
    try:
        short = [line for line in lines if len(bytes.fromhex(line)) < MIN_KEY_BYTES]
    except ValueError:
        short = lines
    if short or not lines:
        raise Wrong(f"{place} holds no key.", "hex, at least 32 bytes; `strad keys` makes it")
    return lines
