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
from shared.entitled import Admission
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

    admission: Admission
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

    @property
    def config(self) -> Config:
        """The one in force: its people can change while auth runs."""
        return self.admission.config


PARTS = web.AppKey("parts", Parts)
