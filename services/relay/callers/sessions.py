"""The relay's own MCP sessions, for callers of 2025-11-25 and before.

A session belongs to the person who opened it and to the view it was opened on; for anybody else it
does not exist. It proves nothing: every request in it still needs its token. Sealed in Redis under
the digest of its id, so that any replica continues it.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import lru_cache
from typing import Any

from services.relay.changes.alive import Alive
from services.relay.messages import rpc
from services.relay.messages.event_ids import EventIds
from services.relay.servers.legacy import Session
from shared import ids, keys, log
from shared.clock import Clock
from shared.contracts.identity import Frozen
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal, SealBroken
from shared.stores.alone import Alone
from shared.stores.kv import KeyValue
from shared.stores.opened import Opened

IDLE_SECONDS = 30 * 60
_TOUCH_SECONDS = 60
_WRITE_SECONDS = 2
MAX_PARAMS_BYTES = 16 * 1024
_REMEMBERED = 1024


class McpSession(Frozen):
    """`params`: of the caller's `initialize`. `through`: what it says goes to the server as it is.

    `upstream`: the server's own session id, if it keeps sessions and the caller talks through.
    `log_level`: as the caller set it, where the relay answers.
    """

    subject: str
    view: str
    params: dict[str, Any]
    version: str
    through: bool
    upstream: str | None = None
    log_level: str | None = None
    touched: int = 0

    @property
    def with_server(self) -> Session:
        """The server's side of a session that goes through."""
        return Session(self.upstream, self.version, {})


class McpSessions:
    """Opens, finds and ends sessions. Methods may raise `StoreUnavailable`."""

    def __init__(self, store: KeyValue, seal: Seal, clock: Clock, most: int) -> None:
        self._store = store
        self._seal = seal
        self._clock = clock
        self._most = most
        self._opened = Opened[McpSession](seal, clock, _REMEMBERED)
        self._alone = Alone(store)
        # a request wants them more than once
        self._keys_of = lru_cache(_REMEMBERED)(self._keys)

    async def begin(self, session: McpSession) -> str:
        """Store a new session and return its id. One too many of a person ends the idlest."""
        session_id = ids.new_secret()
        key, sealed = self.key(session_id), self._sealed(session_id, session)
        await self._used(session_id, session)
        await self._store.put(key, sealed, IDLE_SECONDS)
        return session_id

    async def change(self, session_id: str, **fields: Any) -> McpSession | None:
        """The session with these fields changed, and used now; None where it has ended.

        What others change at the same time stays: it is read again, and nobody else writes.
        """
        key = self.key(session_id)
        async with self.alone(session_id, "record", _WRITE_SECONDS):
            session = self._open(key, await self._store.get(key))
            if session is None:
                return None
            session = session.model_copy(update=fields)
            sealed = self._sealed(session_id, session)
            if not await self._store.replace(key, sealed, IDLE_SECONDS):
                return None
        await self._used(session_id, session)
        return session

    async def find(self, session_id: str, subject: str, view: str) -> McpSession | None:
        """The live session of this person on this view, or None."""
        key = self.key(session_id)
        session = self._open(key, await self._store.get(key))
        if session is None or session.subject != subject or session.view != view:
            return None
        if self._clock() - session.touched > _TOUCH_SECONDS:
            # of many that come at once after a while, one
            touching = keys.MCP_SESSION.key("touching", self._digest(session_id))
            if await self._store.add(touching, b"1", _WRITE_SECONDS):
                return await self.change(session_id)
        return session

    def alone(self, session_id: str, what: str, seconds: int) -> AbstractAsyncContextManager[None]:
        """Inside, nobody else does this to the session: see `Alone`."""
        key = keys.MCP_SESSION.key("alone", what, self._digest(session_id))
        return self._alone.at(key, seconds)

    def lasting(self, session_id: str, session: McpSession, alive: Alive) -> Alive:
        """`alive` while the session lasts too. A session that only listens is used as well."""

        async def check(about: str | None) -> None:
            await alive.check(about)
            if await self.find(session_id, session.subject, session.view) is None:
                raise Problem(ProblemKind.NOT_FOUND, "The session has ended.", "Begin a new one.")

        return replace(alive, check=check)

    async def end(self, session_id: str, session: McpSession) -> None:
        """Forget a session."""
        await self._store.remove(self.key(session_id))
        whose = keys.MCP_SESSIONS_OF.key(session.subject)
        await self._store.unused(whose, self._digest(session_id))

    def _open(self, key: str, sealed: bytes | None) -> McpSession | None:
        if sealed is None:
            return None
        try:
            return self._opened.open(key, sealed, _read)
        except SealBroken:
            return None

    def _sealed(self, session_id: str, session: McpSession) -> bytes:
        now = self._clock()
        # not a model's own dump: it cannot take all that JSON can say
        params = rpc.dumps(session.params).decode()
        record = dict(session) | {"touched": int(now), "params": params}
        return self._seal.seal(self.key(session_id), record, now + IDLE_SECONDS)

    async def _used(self, session_id: str, session: McpSession) -> None:
        whose, digest = keys.MCP_SESSIONS_OF.key(session.subject), self._digest(session_id)
        ended = await self._store.used(whose, digest, self._clock(), IDLE_SECONDS, self._most)
        if ended:
            log.event(
                "mcp-sessions-ended", subject=session.subject, count=len(ended), most=self._most
            )
            await self._store.remove(*(keys.MCP_SESSION.key(one) for one in ended))

    def event_ids(self, session_id: str) -> EventIds:
        """Ids of events in a session."""
        return EventIds(self._seal, self.key(session_id))

    def key(self, session_id: str) -> str:
        """Where a session is kept."""
        return self._keys_of(session_id)[0]

    def stream_key(self, session_id: str) -> str:
        """Where it is kept that a session's stream may still come."""
        return self._keys_of(session_id)[1]

    def keys(self, session_id: str) -> tuple[str, str]:
        """What a request in a session reads: `key` and `stream_key`."""
        return self._keys_of(session_id)

    def _keys(self, session_id: str) -> tuple[str, str]:
        digest = self._digest(session_id)
        return keys.MCP_SESSION.key(digest), keys.MCP_STREAM_DUE.key(digest)

    def _digest(self, session_id: str) -> str:
        return self._seal.digest("mcp-session", session_id)


def _read(record: dict[str, Any]) -> McpSession:
    params = rpc.loads(record["params"].encode())
    return McpSession.model_validate(record | {"params": params})


def check_size(params: rpc.Message) -> None:
    """Refuse an `initialize` too large to keep."""
    if len(rpc.dumps(params)) > MAX_PARAMS_BYTES:
        title = "The client says too much about itself."
        advice = f"Send at most {MAX_PARAMS_BYTES // 1024} KiB of params with initialize."
        raise Problem(ProblemKind.TOO_LARGE, title, advice)
