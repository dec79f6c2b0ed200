"""Keys that sign: a private JWK in one folder, its public half in those of all who verify."""

import json
from dataclasses import dataclass
from pathlib import Path

from joserfc.jwk import ECKey

from cli.rotation import Wrong, unprepared, unused
from cli.write import write
from shared.key_folder import SEAL, as_key_set, key_set, next_of
from shared.signing import new_signing_key


@dataclass(frozen=True, slots=True)
class Signing:
    """One such key. `known`: when all who verify know a new one, after the restart.

    `until`: when nothing counts any more that the old one has signed.
    """

    file: str
    holder: str
    public: str
    verifiers: tuple[str, ...]
    known: str = ""
    until: str = "an hour"

    @property
    def readers(self) -> str:
        return ", ".join(self.verifiers)

    def state(self, out: Path) -> str:
        if self._coming(out) is not None:
            return f"prepared: restart {self.readers}; then{self.known} `use`"
        if any(len(self._known(out, one)) > 1 for one in self.verifiers):
            return f"in use, with older ones: restart {self.holder}; `drop` after {self.until}"
        return "one key"

    def prepare(self, out: Path) -> list[Path]:
        written, place = [], out / self.holder / next_of(self.file)
        new = self._coming(out)
        if new is None:
            new, like = new_signing_key(), out / self.holder / self.file
            write(place, json.dumps(new.as_dict(private=True)) + "\n", like=like)
            written.append(place)
        for one in self.verifiers:
            written += self._tell(out, one, *self._known(out, one), new)
        return written

    def use(self, out: Path) -> list[Path]:
        new, current = self._coming(out), self._current(out)
        if new is None:
            if all(len(self._known(out, one)) > 1 for one in self.verifiers):
                return []
            raise unprepared(self.file)
        for one in self.verifiers:
            if new.kid not in {key.kid for key in self._known(out, one)}:
                raise unprepared(f"{one}/{self.public}")
        written = []
        if new.kid != current.kid:
            place = out / self.holder / self.file
            write(place, json.dumps(new.as_dict(private=True)) + "\n")
            written.append(place)
        (out / self.holder / next_of(self.file)).unlink()
        return written

    def drop(self, out: Path) -> list[Path]:
        if self._coming(out) is not None:
            raise unused()
        current = self._current(out)
        return [place for one in self.verifiers for place in self._tell(out, one, current)]

    def _tell(self, out: Path, verifier: str, *keys: ECKey) -> list[Path]:
        place = out / verifier / self.public
        if {key.kid for key in self._known(out, verifier)} == {key.kid for key in keys}:
            return []
        write(place, json.dumps(as_key_set(*keys)) + "\n", like=out / verifier / SEAL)
        return [place]

    def _known(self, out: Path, verifier: str) -> list[ECKey]:
        place = out / verifier / self.public
        return _jwks(place) if place.exists() else [self._current(out)]

    def _current(self, out: Path) -> ECKey:
        return _private(out / self.holder / self.file)

    def _coming(self, out: Path) -> ECKey | None:
        place = out / self.holder / next_of(self.file)
        return _private(place) if place.exists() else None


def _jwks(place: Path) -> list[ECKey]:
    try:
        return key_set(place.read_text())
    except ValueError as error:
        raise Wrong(f"{place} holds no P-256 JWK.", "`strad keys` makes it") from error


def _private(place: Path) -> ECKey:
    key = _jwks(place)[0]
    if not key.is_private:
        raise Wrong(f"{place} holds no private key.", "`strad keys` makes it")
    return key
