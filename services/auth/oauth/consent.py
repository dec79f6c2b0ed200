"""What a person is asked, and what their answer allows.

The question is sealed into its own form, for the session that it was put to: a form of another
session, of another page or of our own making elsewhere is no answer to it.
"""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass

from multidict import MultiMapping

from services.auth.oauth import redirects
from services.auth.oauth.connected import Connected
from services.auth.oauth.records import REPLAY_SECONDS, Allowed, Client
from services.auth.token_pages import Choice, choices
from shared import ids, keys
from shared.contracts.config import Config
from shared.contracts.identity import Principal
from shared.signing import Seal, SealBroken

FORM_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Question:
    """Who asks for what. `every`: all servers may be allowed at once, also later ones."""

    client: Client
    redirect_uri: str
    servers: Sequence[Choice]
    every: bool

    @property
    def place(self) -> str:
        """Where the answer goes."""
        return redirects.place(self.redirect_uri)

    @property
    def host(self) -> str:
        """Who answers for the client's name; empty: nobody does."""
        return self.client.id.split("/")[2] if self.client.document else ""


@dataclass(frozen=True, slots=True)
class Consent:
    """An answer. `servers` None: every server."""

    servers: tuple[str, ...] | None
    read_only: bool


def question(
    config: Config, email: str, client: Client, redirect_uri: str, wanted: tuple[str, ...] | None
) -> Question:
    """What to ask this person. A server that is not theirs is left out, as if there was none."""
    if config.entitlements.decision_point is not None:
        # only the relay knows; what is allowed here in vain opens nothing there
        mine = [Choice(slug, slug) for slug in wanted or ()]
    else:
        mine = choices(config, email)
    asked = [one for one in mine if wanted is None or one.slug in wanted]
    return Question(client, redirect_uri, asked, every=wanted is None)


def answer(asked: Question, posted: MultiMapping[object]) -> Consent | None:
    """The answer in a form; None when it says nothing that can be allowed."""
    ticked = {str(one) for one in posted.getall("servers", [])}
    offered = {one.slug for one in asked.servers}
    if not ticked <= offered or posted.get("access") not in {"read", "write"}:
        return None
    every = asked.every and posted.get("reach") == "every"
    if every == bool(ticked):  # nothing, or all and some at once
        return None
    servers = tuple(one.slug for one in asked.servers if one.slug in ticked)
    return Consent(None if every else servers, read_only=posted.get("access") == "read")


def chosen(asked: Question, posted: MultiMapping[object]) -> Consent:
    """What was ticked in a form that is no answer, to be shown once more."""
    ticked = {str(one) for one in posted.getall("servers", [])}
    servers = tuple(one.slug for one in asked.servers if one.slug in ticked)
    return Consent(servers, read_only=posted.get("access") == "read")


def allowed(
    config: Config, principal: Principal, asked: Question, given: Consent, now: int
) -> Allowed:
    """What is allowed by it."""
    return Allowed(
        id=ids.new_id(),
        person=principal.person,
        client=asked.client,
        redirect_uri=asked.redirect_uri,
        servers=given.servers,
        read_only=given.read_only,
        created=now,
        expires=now + max(config.tokens.longest, REPLAY_SECONDS),
    )


async def before(
    store: Connected, subject: str, client_id: str, redirect_uri: str
) -> Consent | None:
    """What this person allowed this client last, at the same address."""
    for one in await store.of(subject):
        if one.client.id == client_id and redirects.same(one.redirect_uri, redirect_uri):
            return Consent(one.servers, one.read_only)
    return None


def needs_no_page(asked: Question, last: Consent | None) -> bool:
    """Whether the same was allowed before, to somebody whom nobody else can pass for.

    Any program on a person's machine can listen at a loopback address, and call itself what it
    likes (RFC 8252 §8.6): there, a person is asked each time.
    """
    if last is None or not redirects.vouched_for(asked.redirect_uri):
        return False
    if asked.every:
        return last.servers is None
    return last.servers is None or {one.slug for one in asked.servers} <= set(last.servers)


def narrowed(asked: Question, last: Consent) -> Consent:
    """The same as before, and no more than is asked for now."""
    servers = None if asked.every else tuple(one.slug for one in asked.servers)
    return Consent(servers, last.read_only)


def sealed(seal: Seal, digest: str, fields: dict[str, str], now: float) -> str:
    """The request, for the form."""
    raw = seal.seal(keys.OAUTH.key("form", digest), dict(fields), now + FORM_SECONDS)
    return base64.urlsafe_b64encode(raw).decode()


def opened(seal: Seal, digest: str, text: str, now: float) -> dict[str, str] | None:
    """The request of a form that this session was shown; None for anything else."""
    try:
        raw = base64.urlsafe_b64decode(text)
        return seal.open(keys.OAUTH.key("form", digest), raw, now)
    except (SealBroken, binascii.Error, ValueError):
        return None
