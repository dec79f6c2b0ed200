"""auth as it is, but that it finds the documents of clients on this machine.

`python -m tests.browser.auth_on_this_machine`, with CERTIFICATE naming what to trust. As it stands,
auth reads documents on the public internet only.
"""

import os
from functools import partial
from pathlib import Path

from aiohttp import web

from services.auth import settings
from services.auth.app import applications
from shared.clock import system_clock
from shared.settings import Base, Environment
from shared.stores.redis import connect
from shared.web.serve import run
from tests.auth.document_host import trusting


def load() -> tuple[Base, web.Application, web.Application]:
    """As auth's own."""
    found = settings.read(Environment())
    base = found.base
    store = connect(base.redis_url, base.service, base.redis_password)
    outside = partial(trusting, Path(os.environ["CERTIFICATE"]))
    return base, *applications(found, store, system_clock, outside=outside)


if __name__ == "__main__":
    run(load)
