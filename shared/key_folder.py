"""A service's own folder of keys. `strad keys` makes the files, `strad keys rotate` replaces keys.

While a key is being replaced there are two of it: the one to come lies beside the other
(`next_of`), and opens and verifies before it seals or signs.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet

from shared.signing import MIN_KEY_BYTES, Seal

if TYPE_CHECKING:  # it reads this module itself
    from shared.settings import Environment

SEAL, INDEX, AUDIT, GRANT = "seal.key", "index.key", "audit.key", "grant.key"
IDENTITY, IDENTITY_PUBLIC = "identity.json", "identity.pub.json"
APPHOST, APPHOST_PUBLIC = "apphost.json", "apphost.pub.json"
# what is there is never written over
_MAKE_ANEW = "delete it if it is there, and run `strad keys`, which makes what is missing"
_SIGN_ANEW = f"{_MAKE_ANEW}; of a private key delete the public half (.pub.json) too"


def next_of(name: str) -> str:
    """The file of the key that is to take the place of the one in this file."""
    stem, _, ending = name.rpartition(".")
    return f"{stem}.next.{ending}"


def key_set(text: str) -> list[ECKey]:
    """The keys of a JWK or a JWK Set (RFC 7517). Raises `ValueError`."""
    try:
        value = json.loads(text)
        keys = [ECKey.import_key(item) for item in value.get("keys", [value])]
    except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError("not a P-256 JWK, and no set of them") from error
    if not keys or any(key.curve_name != "P-256" for key in keys):
        raise ValueError("not P-256")
    for key in keys:
        key.ensure_kid()
    return keys


def as_key_set(*keys: ECKey) -> dict[str, Any]:
    """The public halves, each once."""
    return {"keys": list({str(key.kid): key.as_dict(private=False) for key in keys}.values())}


class Keys:
    """Reads the files; what is wrong with them is noted in the environment."""

    def __init__(self, env: "Environment", folder: Path) -> None:
        self._env = env
        self._folder = folder

    def text(self, name: str) -> str:
        """A file of text."""
        return self._env.file(self._folder / name, "STRAD_KEYS") or ""

    def seal(self, name: str = SEAL, index: str = INDEX) -> Seal | None:
        """The seal: hex master keys, one a line, newest first; `index` keys the digests.

        The first one seals. The others open, and so does the one to come.
        """
        return self._seal(name, self.text(index))

    def audit_seal(self) -> Seal | None:
        """The seal of the audit trail: whoever reads the trail opens nothing else with it."""
        # its digests are compared and are no addresses: they change with the key
        return self._seal(AUDIT, "".join(self.text(AUDIT).split()[:1]))

    def _seal(self, name: str, index: str) -> Seal | None:
        try:
            keys = [bytes.fromhex(line) for line in self._with_next(name).split()]
            return Seal(keys, bytes.fromhex(index))
        except ValueError:
            fix = f"write hex keys of {MIN_KEY_BYTES} bytes or more, or {_MAKE_ANEW}"
            problem = f"{name} or its digests' key in {self._folder} is no key"
            self._env.wrong("STRAD_KEYS", problem, fix)
            return None

    def _with_next(self, name: str) -> str:
        coming = next_of(name)
        return "\n".join([self.text(name), *([self.text(coming)] if self._has(coming) else [])])

    def private(self, name: str) -> ECKey | None:
        """A private P-256 JWK."""
        key = next(iter(self._jwks(name)), None)
        if key is not None and not key.is_private:
            self._env.wrong("STRAD_KEYS", f"{name} holds no private key", _SIGN_ANEW)
        return key

    def public(self, name: str) -> KeySet | None:
        """Public P-256 JWKs: one, or a set."""
        keys = self._jwks(name)
        return KeySet(list(keys)) if keys else None

    def published(self, name: str, signing: ECKey) -> KeySet:
        """The key that signs, and those that are to be known beside it, if there are any."""
        others = self._jwks(name) if self._has(name) else []
        public = as_key_set(signing, *others)["keys"]
        return KeySet([ECKey.import_key(item) for item in public])

    def _has(self, name: str) -> bool:
        try:
            return (self._folder / name).exists()
        except OSError:
            return False  # the folder cannot be looked into: noted with the file beside this one

    def _jwks(self, name: str) -> list[ECKey]:
        text = self.text(name)
        try:
            return key_set(text)
        except ValueError:
            problem = f"{name} in {self._folder} is no P-256 JWK"
            self._env.wrong("STRAD_KEYS", problem, _SIGN_ANEW)
            return []
