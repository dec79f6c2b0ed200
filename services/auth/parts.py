"""What handlers work with, made once by `app` and carried by the application."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web
from jinja2 import Environment

from services.auth.attempts import Attempts
from services.auth.code_flow import CodeFlow
from services.auth.login_links import LoginLinks
from services.auth.people import People
from shared.clock import Clock
from shared.contracts.config import Config
from shared.stores.audit import Trail
from shared.stores.kv import KeyValue
from shared.stores.sessions import SessionWriter
from shared.stores.tokens import TokenWriter
from shared.web.routes import Identify

if TYPE_CHECKING:  # it reads these parts itself
    from services.auth.limits import Limits


@dataclass(frozen=True, slots=True)
class Parts:
    """The service's domain, ready for use."""

    config: Config
    clock: Clock
    store: KeyValue
    pages: Environment
    flow: CodeFlow
    attempts: Attempts
    people: People
    login_links: LoginLinks
    sessions: SessionWriter
    tokens: TokenWriter
    identify: Identify
    trail: Trail
    limits: "Limits"


PARTS = web.AppKey("parts", Parts)
