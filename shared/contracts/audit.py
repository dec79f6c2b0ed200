"""The audit trail: what one entry says, and how long entries are kept."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypedDict, Unpack

from pydantic import Field

from shared.contracts.fields import Seconds, Strict

SESSION_CHARS = 12  # of a digest: enough to tell sessions apart, of no use as an address


class AuditRules(Strict):
    """How long the audit trail lasts in Redis, and what it holds."""

    keep: Seconds = Field(30 * 86400, description="older entries are removed")
    most: int = Field(
        100_000, ge=1000, le=10_000_000, description="beyond so many, the oldest are removed"
    )
    arguments: bool = Field(
        False,
        description="also keep what tools are called with: up to 4 KiB a call, without the values"
        " of members whose name sounds like a secret",
    )


class Event(StrEnum):
    """What happened."""

    REQUEST = "request"
    DENIED = "denied"
    SIGNED_IN = "signed-in"
    SIGN_IN_DENIED = "sign-in-denied"
    SIGNED_OUT = "signed-out"
    TOKEN_CREATED = "token-created"  # noqa: S105
    TOKEN_REVOKED = "token-revoked"  # noqa: S105
    CLIENT_CONNECTED = "client-connected"
    CLIENT_ENDED = "client-ended"
    ADDRESS_UNBOUND = "address-unbound"
    PERSON_ENDED = "person-ended"
    LINK_MADE = "link-made"
    LINK_USED = "link-used"


class Facts(TypedDict, total=False):
    """One decision, and what came of it. Left out: not known, or there is no such thing.

    `session`: the beginning of the digest of the session or token that acted.
    `definition`: hash of the tool as its server listed it. `arguments`: keyed digest.
    `by`: who did it to the person: `operator`, an administrator's subject, or a machine.
    `outcome`: result, tool-error, error, caller-left, or the name of a problem.
    """

    event: str
    id: str
    time: float
    subject: str
    email: str
    session: str
    client: str
    method: str
    server: str
    tool: str
    definition: str
    surface: str
    decision: str
    reason: str
    arguments: str
    given: str
    token: str
    by: str
    outcome: str
    status: int
    ms: float
    bytes_in: int
    bytes_out: int


# no address of a person, and no arguments
_LOGGED = (
    *("subject", "session", "client", "server", "tool", "definition", "surface", "decision"),
    *("reason", "arguments", "token", "by", "outcome", "bytes_in", "bytes_out"),
)


class Entry:
    """Facts, and where they are on their way into the trail.

    `since`: when they began to wait, of `time.monotonic`.
    """

    __slots__ = ("done", "ended", "facts", "since", "written")

    def __init__(self, **facts: Unpack[Facts]) -> None:
        self.facts = facts
        self.since = 0.0
        self.ended = self.written = self.done = False

    def record(self) -> dict[str, Any]:
        """What the trail keeps. `running`: it was written while the request was still at work."""
        return {**self.facts} if self.ended else {**self.facts, "running": True}

    def line(self) -> dict[str, Any]:
        """What a log line may say."""
        facts: Mapping[str, object] = self.facts
        return {name: facts[name] for name in _LOGGED if name in facts}
