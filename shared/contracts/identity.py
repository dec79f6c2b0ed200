"""Who somebody is: sessions, tokens, the principal of a request, the assertion between services."""

import base64
import hashlib
from enum import StrEnum
from functools import cached_property
from typing import Final

from pydantic import BaseModel, ConfigDict, field_validator

from shared.contracts.wire import Service


class Frozen(BaseModel):
    """Base of our own contracts: immutable, unknown keys are a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")


MACHINE_ISSUER: Final = "urn:strad:machine"
"""Of no provider: the issuer of people is an http(s) address."""
_MACHINE = "machine:"


class SessionKind(StrEnum):
    """How a session began. A `token` session (one-time sign-in link) may look but not act."""

    OIDC = "oidc"
    TOKEN = "token"  # noqa: S105


class Person(Frozen):
    """A person as the OpenID provider described them at sign-in (OpenID Connect Core §5.1).

    `organisation`: the domain that the provider vouches for (`hd`). Or a machine of
    `oauth.machines`, which acts for itself: `machine` is its client id then. What stands in place
    of its address is none, so no rule that is written for people ever means it.
    """

    issuer: str
    sub: str
    email: str
    name: str
    organisation: str | None = None

    @cached_property
    def subject(self) -> str:
        """Stable identity, from issuer and sub only: an e-mail address can change hands."""
        digest = hashlib.sha256(f"{self.issuer}\0{self.sub}".encode()).digest()
        return base64.urlsafe_b64encode(digest[:20]).rstrip(b"=").decode()

    @property
    def machine(self) -> str | None:
        """Its client id; None: a person."""
        return self.sub if self.issuer == MACHINE_ISSUER else None

    @classmethod
    def of_machine(cls, client_id: str, name: str) -> "Person":
        """The machine with this client id."""
        return cls(issuer=MACHINE_ISSUER, sub=client_id, email=f"{_MACHINE}{client_id}", name=name)


class Session(Frozen):
    """A signed-in browser. Times are Unix seconds; `expires` is the absolute end.

    `device`: for its person to recognise it. `provider_session`: the provider's own name for the
    sign-in there (`sid`). `auth_time`: when the person proved there who they are, if it says so.
    """

    kind: SessionKind
    person: Person
    created: int
    expires: int
    idle_seconds: int
    device: str = ""
    provider_session: str | None = None
    auth_time: int | None = None

    @field_validator("person")
    @classmethod
    def _no_machine(cls, value: Person) -> Person:
        if value.machine is not None:
            raise ValueError("a machine has no session")
        return value


class Token(Frozen):
    """The record of a personal access token, or of an access token of OAuth.

    The token itself is stored nowhere. `servers` None means every server its owner may use. Times
    are Unix seconds. `client`: the OAuth client that it was issued to, which can ask for more.
    """

    id: str
    person: Person
    label: str
    servers: tuple[str, ...] | None
    created: int
    expires: int
    read_only: bool = False
    client: str | None = None


class TokenUse(Frozen):
    """Who used a token last. `client`: its own word, printable; `address`: as proxies tell it."""

    client: str
    address: str


class Principal(Frozen):
    """The authenticated caller of one request.

    `digest` is the keyed digest of the cookie or token that proved it, never the secret.
    """

    person: Person
    digest: str
    session_kind: SessionKind | None  # None: a token brought it
    servers: tuple[str, ...] | None = None  # a token's own limit
    read_only: bool = False  # likewise
    client: str | None = None  # the OAuth client that acts

    @cached_property
    def subject(self) -> str:
        return self.person.subject


class Assertion(Frozen):
    """One service's signed word to another about one request; lives 30 s at most.

    The receiver re-reads the session named by `session` and decides again itself.
    """

    caller: Service
    audience: Service
    subject: str
    session: str
    slug: str | None
    id: str
    expires: int
