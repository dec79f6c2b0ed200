"""What every handler needs, in one object under one key of the application."""

from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from demo.provider.faults import Faults
from demo.provider.keys import Keys
from demo.provider.ledger import Ledger
from demo.provider.settings import Settings


@dataclass(frozen=True)
class Provider:
    """`clock` gives seconds since 1970."""

    settings: Settings
    keys: Keys
    ledger: Ledger
    faults: Faults
    clock: Callable[[], float]


PROVIDER = web.AppKey("provider", Provider)
