"""`strad keys rotate FOLDER STEP KEY`: replaces a key while strad runs.

`FOLDER` alone tells how each key stands.

    prepare  makes a new key: all who open or verify know it, and nobody uses it
    use      the new key seals or signs; the old one still opens and verifies
    drop     the old key counts no longer

The services read keys when they start, so those that are named restart after each step. Each step
can be run again, also after it broke off, and refuses to come before the one that it needs.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from cli.rotation import Rotation, Wrong
from cli.rotation.sealing import Sealing
from cli.rotation.signing import Signing
from shared.contracts.wire import Service
from shared.key_folder import (
    APPHOST,
    APPHOST_PUBLIC,
    AUDIT,
    GRANT,
    IDENTITY,
    IDENTITY_PUBLIC,
    SEAL,
)
from shared.keys import AUDITOR

STEPS = ("prepare", "use", "drop")
KEYS: dict[str, Rotation] = {
    "seal": Sealing(SEAL, tuple(service.value for service in Service)),
    "audit": Sealing(AUDIT, (Service.AUTH, Service.RELAY, AUDITOR)),
    "grant": Sealing(GRANT, (Service.RELAY,)),
    "identity": Signing(
        IDENTITY, Service.RELAY, IDENTITY_PUBLIC, (Service.RELAY,), " wait five minutes, and"
    ),
    "apphost": Signing(
        APPHOST, Service.APPHOST, APPHOST_PUBLIC, (Service.RELAY,), until="a minute"
    ),
}
_NOT = {
    "index": "index.key makes the addresses of all records: a new one finds none of them. It would"
    " sign everybody out, end every token, and free every e-mail address for whatever account"
    " signs in with it first. docs/operating.md says what to do if it is known to somebody.",
    "metrics": "metrics.token is no key: delete it in all folders, run `strad keys`, and restart.",
    "redis": "a password is no key: delete redis.password in one folder, run `strad keys`, and"
    " restart Redis and that service.",
}


def rotate(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if asked.step is not None and asked.key is None:
        parser.error(f"name a key: {', '.join(KEYS)}")
    out = Path(asked.folder)
    try:
        if asked.step is None:
            for name, key in KEYS.items():
                print(f"{name:9}{key.state(out)}")
            return 0
        if asked.key in _NOT:
            raise Wrong(_NOT[asked.key], f"the others: {', '.join(KEYS)}")
        key = KEYS[asked.key]
        written = {"prepare": key.prepare, "use": key.use, "drop": key.drop}[asked.step](out)
    except (Wrong, OSError) as error:
        fix = error.fix if isinstance(error, Wrong) else "check the folder and the rights"
        print(f"{error}\n    fix: {fix}", file=sys.stderr)
        return 1
    for path in written:
        print(f"wrote {path}")
    told = key.state(out) if written else f"Nothing to do: {key.state(out)}"
    print(f"{told}: restart {key.readers}" if written and asked.step == "drop" else told)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="strad keys rotate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="FOLDER", help="what `strad keys` made")
    parser.add_argument("step", nargs="?", choices=STEPS, metavar="STEP", help=", ".join(STEPS))
    names = (*KEYS, *_NOT)
    parser.add_argument("key", nargs="?", choices=names, metavar="KEY", help=", ".join(KEYS))
    return parser
