"""What the commands work with: auth's Redis user, its seal, the audit trail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from services.auth.ending import Ended, end_everything
from services.auth.login_links import LoginLinks
from services.auth.oauth.connected import Connected
from services.auth.oauth.parts import store_of
from services.auth.people import People
from services.auth.trail import note_done_to
from shared.clock import Clock, system_clock
from shared.contracts.audit import Event
from shared.contracts.config import Config
from shared.contracts.wire import Service
from shared.settings import Environment, read_base
from shared.signing import Seal
from shared.stores.audit import Trail
from shared.stores.kv import KeyValue
from shared.stores.redis import connect
from shared.stores.sessions import SessionWriter
from shared.stores.tokens import TokenWriter

OPERATOR = "operator"


class Unknown(Exception):
    """Nobody has signed in with this address."""

    def __init__(self, email: str) -> None:
        super().__init__(f"Nobody has signed in with {email}.")


class Wrong(Exception):
    """What was asked for cannot be done. `fix`: what to do about it."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Desk:
    """auth's domain, for one command."""

    config: Config
    clock: Clock
    people: People
    login_links: LoginLinks
    sessions: SessionWriter
    tokens: TokenWriter
    clients: Connected
    trail: Trail

    async def subject(self, email: str) -> str:
        """Whose address this is. Raises `Unknown`."""
        subject = await self.people.subject_of(email)
        if subject is None:
            raise Unknown(email)
        return subject

    async def note(self, event: Event, subject: str | None, email: str) -> None:
        """Tell the trail. Raises `StoreUnavailable`."""
        await note_done_to(self.trail, event, subject, email, by=OPERATOR)

    async def end(self, subject: str) -> Ended:
        """End all sessions and tokens of a person."""
        return await end_everything(self.sessions, self.tokens, self.clients, subject)


def desk(config: Config, store: KeyValue, seal: Seal, audit: Seal, clock: Clock) -> Desk:
    """A desk over a store."""
    people = People(store, seal, clock)
    return Desk(
        config=config,
        clock=clock,
        people=people,
        login_links=LoginLinks(store, seal, clock, people),
        sessions=SessionWriter(store, seal, clock),
        tokens=TokenWriter(store, seal, clock),
        clients=store_of(config, store, seal, clock),
        trail=Trail(store, audit, clock, config.audit),
    )


@asynccontextmanager
async def opened(env: Environment) -> AsyncIterator[Desk]:
    """By the environment that auth itself runs with. Raises `SettingsWrong`."""
    base, keys = read_base(env, Service.AUTH)
    audit = keys.audit_seal()
    env.done()
    if base is None or audit is None:  # `done` has raised
        raise RuntimeError("settings are missing without a mistake")
    store = connect(base.redis_url, Service.AUTH, base.redis_password)
    try:
        yield desk(base.config, store, base.seal, audit, system_clock)
    finally:
        await store.close()
