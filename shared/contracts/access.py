"""What a decision is made from, and what it can be. Read by `shared.decide`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from shared.contracts.identity import Frozen
from shared.contracts.wire import Surface


class Reason(StrEnum):
    """Why something is refused. Pages, logs and metrics all read this one name."""

    UNKNOWN_SERVER = "unknown-server"
    NOT_ENTITLED = "not-entitled"
    TOKEN_SCOPE = "token-scope"  # noqa: S105
    PERSON_LIMIT = "person-limit"
    SERVER_LIMIT = "server-limit"
    NOT_IN_VIEW = "not-in-view"
    ACCESS_ENDED = "access-ended"
    TOOL_NOT_ALLOWED = "tool-not-allowed"
    TOOL_DENIED = "tool-denied"
    UNKNOWN_TOOL = "unknown-tool"
    FOR_PAGES_ONLY = "tool-for-pages-only"
    NOT_VISIBLE_TO_APPS = "not-visible-to-apps"
    NOT_DECLARING = "tool-declares-no-page"
    NOT_READ_ONLY = "tool-not-read-only"
    LOOK_ONLY_SESSION = "look-only-session"
    READ_ONLY_TOKEN = "read-only-token"  # noqa: S105


class Grant(Frozen):
    """The servers one person may use. An empty grant is an answer, not a missing one."""

    subject: str
    servers: frozenset[str]


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """What a server's own listing says of a tool, as far as decisions need it.

    `app_visible`: `_meta.ui.visibility` is absent or holds "app" (SEP-1865; else no).
    `page`: the `ui://` address it declares, or None.
    `read_only`: `annotations.readOnlyHint` is true.
    """

    name: str
    app_visible: bool
    page: str | None
    read_only: bool


class Call(NamedTuple):
    """One tool call before it happens. `facts` None: the server does not list such a tool."""

    tool: str
    surface: Surface
    facts: ToolFacts | None


@dataclass(frozen=True, slots=True)
class Allowed:
    """Go ahead."""

    ok = True


ALLOWED = Allowed()


@dataclass(frozen=True, slots=True)
class Denied:
    """Refused, and why."""

    reason: Reason
    ok = False


Decision = Allowed | Denied
