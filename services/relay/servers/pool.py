"""Sessions that the relay itself keeps with older servers, for callers that have none.

One for each (server, person, capabilities), never shared between people, kept sealed in Redis so
that every replica continues the same one. A server that has lost a session gets a new one: a
listing or a read is repeated in it, a call never is.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

from mcp_types.version import LATEST_HANDSHAKE_VERSION

from services.relay.gate import Way
from services.relay.messages import rpc
from services.relay.servers import logs
from services.relay.servers.failures import too_large
from services.relay.servers.hello import Hello
from services.relay.servers.legacy import Legacy, Session, SessionLost
from services.relay.servers.progress import Progress
from shared import keys, log
from shared.clock import Clock
from shared.contracts.problems import Problem, ProblemKind
from shared.signing import Seal, SealBroken
from shared.stores.alone import Alone
from shared.stores.kv import KeyValue, StoreUnavailable

KEEP_SECONDS = 3600
HEARD_SECONDS = 45
_ALONE_SECONDS = 5
MAX_RESULT_BYTES = 64 * 1024  # Redis is small, and when it is full nobody gets in
REPEATABLE = frozenset(
    {
        "completion/complete",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "tools/list",
    }
)


class Pool:
    """Asks older servers in sessions of the relay's own."""

    def __init__(self, legacy: Legacy, store: KeyValue, seal: Seal, clock: Clock) -> None:
        self._legacy = legacy
        self._store = store
        self._seal = seal
        self._clock = clock
        self._alone = Alone(store)

    async def session(self, way: Way, hello: Hello) -> Session:
        """The session for this person and these capabilities; opened when there is none."""
        found = await self._find(self._key(way, hello), hello)
        return found if found is not None else await self._open(way, hello, None)

    async def ask(
        self,
        way: Way,
        hello: Hello,
        method: str,
        params: rpc.Message,
        progress: Progress | None = None,
    ) -> rpc.Message:
        """One request. A call that meets a lost session raises a `Problem` and is not repeated."""
        session = await self.session(way, hello)
        try:
            if progress is not None and progress.logs is not None:
                session = await self._louder(way, hello, session, progress.logs.level)
            return await self._legacy.ask(way, session, method, params, progress)
        except SessionLost:
            log.warning("server-lost-session", slug=way.server.slug)
            session = await self._open(way, hello, session)
            if method not in REPEATABLE:
                raise session_renewed(way) from None
            return await self._again(way, session, method, params)

    @asynccontextmanager
    async def to_listen(self, way: Way, hello: Hello) -> AsyncIterator[Session | None]:
        """The session, if nobody else listens in it at any replica; it is kept from them inside."""
        session = await self.session(way, hello)
        if session.id is None:
            yield session
            return
        key = keys.UPSTREAM.key("heard", way.server.slug, self._seal.digest("heard", session.id))
        if not await self._store.add(key, b"1", HEARD_SECONDS):
            yield None
            return
        keeping = asyncio.create_task(self._hold(key))
        try:
            yield session
        finally:
            keeping.cancel()
            # if it cannot be removed it ends by itself
            with contextlib.suppress(StoreUnavailable):
                await self._store.remove(key)

    async def renew(self, way: Way, hello: Hello, lost: Session) -> None:
        """The server has lost this session: open another one, unless somebody has."""
        await self._open(way, hello, lost)

    async def _hold(self, key: str) -> None:
        while True:
            await asyncio.sleep(HEARD_SECONDS / 3)
            with contextlib.suppress(StoreUnavailable):
                await self._store.put(key, b"1", HEARD_SECONDS)

    @staticmethod
    def introduction(hello: Hello) -> rpc.Message:
        """What a server is told of a caller with `initialize`."""
        return {
            "protocolVersion": LATEST_HANDSHAKE_VERSION,
            "capabilities": hello.without_answers().capabilities,
            "clientInfo": hello.name,
        }

    async def _again(
        self, way: Way, session: Session, method: str, params: rpc.Message
    ) -> rpc.Message:
        try:
            return await self._legacy.ask(way, session, method, params)
        except SessionLost:
            title = f"{way.server.name} loses its sessions at once."
            advice = "Tell its owner: it may run in several copies that do not know of each other."
            raise Problem(ProblemKind.UPSTREAM_REFUSED, title, advice) from None

    async def _open(self, way: Way, hello: Hello, old: Session | None) -> Session:
        async with self._writing(way, hello):
            # somebody else, or another replica, may have opened it meanwhile
            found = await self._find(self._key(way, hello), hello)
            if found is not None and (old is None or found.id != old.id):
                return found
            session = await self._legacy.handshake(way, self.introduction(hello), confirm=True)
            return await self._keep(way, hello, session)

    async def _louder(self, way: Way, hello: Hello, session: Session, level: str) -> Session:
        """The session, in which the server was asked for log lines of this level, or for more.

        It is shared: each request hears of them what it asked for itself.
        """
        if session.tells(level):
            return session
        async with self._writing(way, hello):
            # somebody else may have asked for more meanwhile: it must not become less
            session = await self._find(self._key(way, hello), hello) or session
            if session.tells(level):
                return session
            await self._legacy.ask(way, session, logs.SET_LEVEL, {"level": level})
            return await self._keep(way, hello, replace(session, level=level))

    def _writing(self, way: Way, hello: Hello) -> AbstractAsyncContextManager[None]:
        """Whoever writes the session, here or at another replica, is alone with it."""
        return self._alone.at(self._key(way, hello, "alone"), _ALONE_SECONDS)

    async def _keep(self, way: Way, hello: Hello, session: Session) -> Session:
        key, result = self._key(way, hello), rpc.dumps(session.result)
        if len(result) > MAX_RESULT_BYTES:
            raise too_large(way.server, f"{MAX_RESULT_BYTES // 1024} KiB of introduction")
        record = {"id": session.id, "version": session.version, "result": result.decode()}
        record |= {"level": session.level, "hello": hello.without_answers().digest}
        sealed = self._seal.seal(key, record, self._clock() + KEEP_SECONDS)
        await self._store.put(key, sealed, KEEP_SECONDS)
        return session

    async def _find(self, key: str, hello: Hello) -> Session | None:
        sealed = await self._store.get(key)
        if sealed is None:
            return None
        try:
            record = self._seal.open(key, sealed, self._clock())
        except SealBroken:
            return None
        if record.pop("hello", None) != hello.without_answers().digest:
            return None
        return Session(**record | {"result": rpc.loads(record["result"].encode())})

    def _key(self, way: Way, hello: Hello, what: str = "sess") -> str:
        # two digits only: whoever makes up capabilities has 256 places, and not all of Redis
        whose = f"{way.principal.subject}\0{hello.without_answers().digest[:2]}"
        return keys.UPSTREAM.key(what, way.server.slug, self._seal.digest("pool", whose))


def session_renewed(way: Way) -> Problem:
    """A call met a session that the server no longer knew; the next one finds a new session."""
    title = f"{way.server.name} has restarted, and your call was not repeated."
    advice = "It is connected again: check what happened, then try again."
    return Problem(ProblemKind.UPSTREAM_UNREACHABLE, title, advice, reason="session-lost")
