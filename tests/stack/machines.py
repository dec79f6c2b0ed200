"""Machines of the second stack; what they prove themselves with lies beside its settings."""

import base64
import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from tests.live import LiveStack
from tests.visitor import ask

SECRET, KEY = "machine.secret", "machine.pem"
RSA = "machine-rsa.pem"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def machines_in(folder: Path) -> list[dict[str, Any]]:
    """Written into the folder; what stands of them in `strad.yaml`."""
    secret = folder / SECRET
    secret.write_text(f"{ECKey.generate_key('P-256').thumbprint()}\n")
    ec, rsa = ECKey.generate_key("P-256"), RSAKey.generate_key(2048)
    for name, key in ((KEY, ec), (RSA, rsa)):
        (folder / name).write_bytes(key.as_pem(private=True))
    jwks = folder / "machine.jwks.json"
    jwks.write_text(json.dumps({"keys": [key.as_dict(private=False) for key in (ec, rsa)]}))
    by_secret = {"secret": {"file": str(secret)}}
    return [
        {"client_id": "report", "name": "Nightly report", "servers": ["catalog"]} | by_secret,
        {"client_id": "leaver", "name": "Old report", "servers": ["catalog"]} | by_secret,
        {
            "client_id": "robot",
            "name": "Build robot",
            "servers": ["catalog"],
            "read_only": True,
            "jwks_file": str(jwks),
        },
        {"client_id": "desk", "name": "Help desk", "login_links": True} | by_secret,
    ]


def beside(stack: LiveStack, name: str) -> str:
    """The content of a file of theirs."""
    return (stack.settings.config.parent / name).read_text().strip()


def without(stack: LiveStack, client_id: str) -> str:
    """Take a machine out of `strad.yaml`; gives what stood there before."""
    path = stack.settings.config
    before = path.read_text()
    value = yaml.safe_load(before)
    listed = value["oauth"]["machines"]
    value["oauth"]["machines"] = [one for one in listed if one["client_id"] != client_id]
    path.write_text(yaml.safe_dump(value))
    return before


def by_secret(stack: LiveStack, client_id: str, path: str, **fields: str) -> dict[str, str]:
    """What a machine with a secret gets by a form."""
    proof = base64.b64encode(f"{client_id}:{beside(stack, SECRET)}".encode()).decode()
    headers = FORM | {"Authorization": f"Basic {proof}"}
    reply = ask(stack.url + path, "POST", body=urlencode(fields), headers=headers)
    assert reply.status in {200, 201}, reply.text
    return dict(reply.json())


def signed(stack: LiveStack, jti: str) -> str:
    """An assertion of the machine that has keys."""
    now = int(time.time())
    claims = {"iss": "robot", "sub": "robot", "aud": stack.url, "exp": now + 60, "jti": jti}
    key = ECKey.import_key(beside(stack, KEY))
    return jwt.encode({"alg": "ES256"}, claims, key, algorithms=["ES256"])
