"""The audit trail: what one entry says, and how long entries are kept."""

from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any

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


@dataclass(slots=True, eq=False)
class Entry:
    """One decision, and what came of it. None: not known, or there is no such thing.

    `session`: the beginning of the digest of the session or token that acted.
    `definition`: hash of the tool as its server listed it. `arguments`: keyed digest.
    `by`: who did it to the person: `operator`, an administrator's subject, or a machine.
    `outcome`: result, tool-error, error, caller-left, or the name of a problem.
    """

    event: Event
    id: str
    time: float
    subject: str | None = None
    email: str | None = None
    session: str | None = None
    client: str | None = None
    method: str | None = None
    server: str | None = None
    tool: str | None = None
    definition: str | None = None
    surface: str | None = None
    decision: str | None = None
    reason: str | None = None
    arguments: str | None = None
    given: Any = None
    token: str | None = None
    by: str | None = None
    outcome: str | None = None
    status: int | None = None
    ms: float | None = None
    bytes_in: int | None = None
    bytes_out: int | None = None
    # where it is on its way into the trail, and since when it waits (of time.monotonic)
    since: float = 0.0
    ended: bool = False
    written: bool = False
    done: bool = False

    def record(self) -> dict[str, Any]:
        """What the trail keeps. `running`: it was written while the request was still at work."""
        pairs = zip(_KEPT, _KEPT_OF(self), strict=True)
        kept = {name: value for name, value in pairs if value is not None}
        if not self.ended:
            kept["running"] = True
        return kept

    def line(self) -> dict[str, Any]:
        """What a log line may say: no address of a person, and no arguments."""
        pairs = zip(_LOGGED, _LOGGED_OF(self), strict=True)
        return {name: value for name, value in pairs if value is not None}


_ON_ITS_WAY = frozenset({"since", "ended", "written", "done"})
_KEPT = tuple(one.name for one in fields(Entry) if one.name not in _ON_ITS_WAY)
_UNLOGGED = _ON_ITS_WAY | {"event", "id", "time", "email", "given", "method", "ms", "status"}
_LOGGED = tuple(one.name for one in fields(Entry) if one.name not in _UNLOGGED)
_KEPT_OF, _LOGGED_OF = attrgetter(*_KEPT), attrgetter(*_LOGGED)
