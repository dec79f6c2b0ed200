"""The signing key: made at the first start, kept in STATE_DIR if there is one."""

import json
import os
from pathlib import Path
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from demo.provider.settings import SettingsError

ALGORITHM = "RS256"


class Keys:
    """The current key. `rotate` forgets the old one at once, as a careless provider would.

    Raises SettingsError when the file in STATE_DIR is not a key.
    """

    def __init__(self, state_dir: Path | None = None) -> None:
        self._file = state_dir / "provider.json" if state_dir else None
        self.current = self._stored() or self._fresh()

    def rotate(self) -> None:
        self.current = self._fresh()

    def published(self) -> dict[str, Any]:
        """The JWK Set of /jwks (RFC 7517 §5), public half only."""
        return {"keys": [dict(self.current.as_dict(private=False))]}

    def _stored(self) -> RSAKey | None:
        if self._file is None or not self._file.exists():
            return None
        try:
            return RSAKey.import_key(json.loads(self._file.read_text(encoding="utf-8")))
        except (ValueError, JoseError) as error:
            raise SettingsError(f"{self._file} holds no key. Delete it for a new one.") from error

    def _fresh(self) -> RSAKey:
        key = RSAKey.generate_key(2048, {"use": "sig", "alg": ALGORITHM}, auto_kid=True)
        if self._file is not None:
            self._write(key)
        return key

    def _write(self, key: RSAKey) -> None:
        assert self._file is not None
        self._file.parent.mkdir(parents=True, exist_ok=True)
        partial = self._file.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        # Created unreadable to others rather than made so afterwards.
        with os.fdopen(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as out:
            json.dump(key.as_dict(private=True), out)
        partial.replace(self._file)
