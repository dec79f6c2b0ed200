"""A session that goes through to a server which has lost its side of it: opened again, once.

The caller keeps its session. What it asked for is repeated by whoever calls this, if that is safe.
"""

from services.relay.callers.sessions import McpSession, McpSessions
from services.relay.gate import Way
from services.relay.servers.legacy import HandshakeRefused, Legacy, SessionLost
from shared import log

_RENEWING_SECONDS = 5


class Renewal:
    """Renews the server's side of sessions."""

    def __init__(self, legacy: Legacy, sessions: McpSessions) -> None:
        self._legacy = legacy
        self._sessions = sessions

    async def renew(self, way: Way, session_id: str, old: McpSession) -> McpSession:
        """The session with a new server's side. Raises `SessionLost` when it cannot go on.

        May raise a `Problem` when the server does not answer.
        """
        async with self._sessions.alone(session_id, "renewal", _RENEWING_SECONDS):
            current = await self._sessions.find(session_id, old.subject, old.view)
            if current is None:
                raise SessionLost
            if current.upstream != old.upstream:
                return current  # another request of the same session was here first
            log.warning("server-lost-session", slug=way.server.slug)
            try:
                side = await self._legacy.handshake(way, old.params, confirm=True)
            except HandshakeRefused as refusal:
                await self._sessions.end(session_id, current)
                raise SessionLost from refusal
            if side.version != old.version:
                # the caller has agreed on something else: it has to begin again
                await self._sessions.end(session_id, current)
                raise SessionLost
            renewed = await self._sessions.change(session_id, upstream=side.id)
            if renewed is None:
                raise SessionLost
            return renewed
