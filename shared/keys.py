"""Every Redis key and channel: how it is built, whose it is. The only file with such strings.

`deploy/redis.acl` is checked against this table by a test: a service can write its own families
only, and read those that are listed under `readers`.
"""

import functools
import re
from dataclasses import dataclass

from shared.contracts.wire import Service

_PARTS = re.compile(r"[A-Za-z0-9_.-]+(?::[A-Za-z0-9_.-]+)*")


@functools.lru_cache(maxsize=16_384)  # each request has half a dozen, and they come again
def _joined(*parts: str) -> str:
    key = ":".join(parts)
    if not _PARTS.fullmatch(key) or key.count(":") >= len(parts):
        raise ValueError(f"not key parts: {parts!r}")
    return key


@dataclass(frozen=True, slots=True)
class Family:
    """A family of keys with one owner, who alone writes it."""

    prefix: str
    owner: Service
    readers: frozenset[Service] = frozenset()

    def key(self, *parts: str) -> str:
        """The key of one record. Parts are digests and slugs of ours, never free text."""
        return self.prefix + _joined(*parts)


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel of messages that are not kept: who alone speaks, and who alone hears."""

    name: str
    speaker: Service
    hearer: Service


@dataclass(frozen=True, slots=True)
class Stream:
    """A Redis stream that some services append to and shorten, and none of them reads."""

    key: str
    appenders: frozenset[Service]


_EVERYONE = frozenset(Service)

SESSION = Family("sess:", Service.AUTH, _EVERYONE)
# not under `sess:` or `tok:`: who may read those may not read these
SESSIONS_OF = Family("of:sess:", Service.AUTH)
# by the provider's own name for a sign-in
SESSIONS_BY_SID = Family("of:sid:", Service.AUTH)
SIGN_IN = Family("tx:", Service.AUTH)
# whose an address is, and who signed in with it last
BOUND = Family("who:", Service.AUTH)
KNOWN = Family("known:", Service.AUTH)
AUTH_LIMIT = Family("limit:auth:", Service.AUTH)
LINK = Family("link:", Service.AUTH)
LINK_USED = Family("link:used:", Service.AUTH)
TOKEN = Family("tok:", Service.AUTH, frozenset({Service.RELAY}))
TOKENS_OF = Family("of:tok:", Service.AUTH)
# clients, codes, grants and refresh tokens; an access token is a token like any other
OAUTH = Family("oauth:", Service.AUTH)
CLIENTS_OF = Family("of:oauth:", Service.AUTH)
GRANT = Family("ent:", Service.RELAY)
GRANT_ASKED = Family("ent:ask:", Service.RELAY)
LIMIT = Family("limit:relay:", Service.RELAY)
ASSERTION_SEEN = Family("up:jti:", Service.RELAY)
MCP_SESSION = Family("mcp:sess:", Service.RELAY)
MCP_SESSIONS_OF = Family("mcp:of:", Service.RELAY)
# sessions whose stream may still be on its way
MCP_STREAM_DUE = Family("mcp:due:", Service.RELAY)
QUESTION = Family("mcp:ask:", Service.RELAY)
UPSTREAM = Family("up:", Service.RELAY)
FRAME = Family("frame:", Service.APPHOST)
SESSION_SEEN = Family("seen:sess:", Service.APPHOST, _EVERYONE)
TOKEN_SEEN = Family("seen:tok:", Service.RELAY, frozenset({Service.AUTH}))
TOKEN_USE = Family("seen:tok:by:", Service.RELAY, frozenset({Service.AUTH}))

AUDIT = Stream("audit:log", frozenset({Service.AUTH, Service.RELAY}))
AUDITOR = "auditor"  # the Redis user of `strad audit`, who reads that stream and nothing else

FAMILIES = (
    SESSION,
    SESSIONS_OF,
    SESSIONS_BY_SID,
    SIGN_IN,
    BOUND,
    KNOWN,
    AUTH_LIMIT,
    LINK,
    LINK_USED,
    TOKEN,
    TOKENS_OF,
    OAUTH,
    CLIENTS_OF,
    GRANT,
    GRANT_ASKED,
    LIMIT,
    ASSERTION_SEEN,
    MCP_SESSION,
    MCP_SESSIONS_OF,
    MCP_STREAM_DUE,
    QUESTION,
    UPSTREAM,
    FRAME,
    SESSION_SEEN,
    TOKEN_SEEN,
    TOKEN_USE,
)

BETWEEN_RELAYS = Channel("mcp:between", Service.RELAY, Service.RELAY)
# the digest of a session or token that has ended: who hears it looks, and need not believe it
ENDED = Channel("ended", Service.AUTH, Service.RELAY)

# whose entitlements are to be asked about anew
GRANTS_CHANGED = Channel("grants", Service.RELAY, Service.RELAY)

CHANNELS = (BETWEEN_RELAYS, ENDED, GRANTS_CHANGED)
