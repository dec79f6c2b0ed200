"""`python -m demo.catalog`: HOST, PORT, SELF_URL, ALLOWED_HOSTS, RELAY_JWKS_URL, RELAY_ISSUER.

RELAY_JWKS_URL is where strad's relay publishes its keys; without it every signed identity is
refused. RELAY_ISSUER is strad's public URL; without it any issuer with the right key will do.
"""

import os
import sys

from starlette.types import ASGIApp

from demo.catalog.identity import IdentityCheck, RelayKeys
from demo.catalog.server import create_app
from demo.serve import Address, run


def wire(address: Address) -> ASGIApp:
    url = os.environ.get("RELAY_JWKS_URL")
    issuer = os.environ.get("RELAY_ISSUER") or None
    check = IdentityCheck(RelayKeys(url), address.self_url, issuer) if url else None
    return create_app(address, check)


if __name__ == "__main__":
    sys.exit(run("demo catalog", os.environ, wire))
