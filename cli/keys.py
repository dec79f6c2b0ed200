"""`strad keys OUT`: one folder of secrets per service, so that no service reads another's.

Existing files are kept, so running it again only adds what is missing.
"""

import hashlib
import json
import secrets
from pathlib import Path

from joserfc.jwk import ECKey

from cli.write import write
from shared.contracts.wire import Service
from shared.key_folder import APPHOST, APPHOST_PUBLIC, GRANT, IDENTITY, INDEX, SEAL
from shared.key_folder import AUDIT as AUDIT_KEY
from shared.keys import AUDIT, AUDITOR
from shared.signing import MIN_KEY_BYTES, new_signing_key

ACL_TEMPLATE = Path(__file__).parent.parent / "deploy" / "redis.acl"


def make_keys(out: Path, acl_template: Path = ACL_TEMPLATE) -> list[Path]:
    """Make what is missing under OUT; returns the files it wrote.

    A folder for each service, one for Redis, and one for whoever reads the audit trail.
    """
    written: list[Path] = []
    seal = _shared(out, SEAL, written)
    index = _shared(out, INDEX, written)
    audit = _shared(out, AUDIT_KEY, written)
    metrics = _shared(out, "metrics.token", written)
    apphost = _signing(out / "apphost" / APPHOST, written)
    _signing(out / "relay" / IDENTITY, written)
    _text(out / "relay" / GRANT, secrets.token_hex(MIN_KEY_BYTES), written)
    public = json.dumps(apphost.as_dict(private=False))
    acl = acl_template.read_text()
    for service in Service:
        _text(out / service / SEAL, seal, written)
        _text(out / service / INDEX, index, written)
        _text(out / service / "metrics.token", metrics, written)
    for user in (*(service.value for service in AUDIT.appenders), AUDITOR):
        _text(out / user / AUDIT_KEY, audit, written)
    for user in (*(service.value for service in Service), AUDITOR):
        password = _text(out / user / "redis.password", secrets.token_urlsafe(32), written)
        digest = hashlib.sha256(password.encode()).hexdigest()
        acl = acl.replace(f"#{user}-password-sha256", f"#{digest}")
    _text(out / Service.RELAY / APPHOST_PUBLIC, public, written)
    _write(out / "redis" / "users.acl", acl, written)
    return written


def _shared(out: Path, name: str, written: list[Path]) -> str:
    """A secret that several hold: taken from whichever folder has it already."""
    for holder in (*(service.value for service in Service), AUDITOR):
        path = out / holder / name
        if path.exists():
            return path.read_text().removesuffix("\n")
    return _text(out / Service.AUTH / name, secrets.token_hex(MIN_KEY_BYTES), written)


def _signing(path: Path, written: list[Path]) -> ECKey:
    text = _text(path, json.dumps(new_signing_key().as_dict(private=True)), written)
    return ECKey.import_key(json.loads(text))


def _text(path: Path, value: str, written: list[Path]) -> str:
    if path.exists():
        return path.read_text().removesuffix("\n")
    _write(path, value + "\n", written)
    return value


def _write(path: Path, text: str, written: list[Path]) -> None:
    if not path.exists() or path.read_text() != text:
        write(path, text)
        written.append(path)
