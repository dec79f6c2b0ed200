"""The audit trail: what one entry says, and how long entries are kept."""

from enum import StrEnum
from typing import Any, TypedDict

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


class Logged(TypedDict, total=False):
    """What the trail and the log say of one decision, and of what came of it.

    Left out: not known, or there is no such thing.

    `session`: the beginning of the digest of the session or token that acted.
    `definition`: hash of the tool as its server listed it. `arguments`: keyed digest.
    `by`: who did it to the person: `operator`, an administrator's subject, or a machine.
    `outcome`: result, tool-error, error, caller-left, or the name of a problem.
    """

    subject: str
    session: str
    client: str
    server: str
    tool: str
    definition: str
    surface: str
    decision: str
    reason: str
    arguments: object  # written as text
    token: str
    by: str
    outcome: str
    bytes_in: int
    bytes_out: int


class Kept(TypedDict, total=False):
    """What the trail alone says: no log names a person's address, or what a tool was given.

    The others a line of the log has of its own, but for `method`: there it is that of HTTP.
    """

    event: str
    id: str
    time: float
    email: str
    method: str
    given: str
    status: int
    ms: float


class Entry:
    """One decision, and where it is on its way into the trail.

    `since`: when it began to wait, of `time.monotonic`.
    """

    __slots__ = ("done", "ended", "kept", "logged", "since", "written")

    def __init__(self, kept: Kept, logged: Logged) -> None:
        self.kept = kept
        self.logged = logged
        self.since = 0.0
        self.ended = self.written = self.done = False

    def record(self) -> dict[str, Any]:
        """What the trail keeps. `running`: it was written while the request was still at work."""
        record = {**self.kept, **self.line()}
        if not self.ended:
            record["running"] = True
        return record

    def line(self) -> dict[str, Any]:
        """What the log says, beside what it says of every request."""
        line: dict[str, Any] = {**self.logged}
        if "arguments" in line:
            line["arguments"] = str(line["arguments"])
        return line
