"""`python -m tests.bench.identity`: processor time to know who asks, without the way to Redis."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from aiohttp.test_utils import make_mocked_request

from shared.contracts.identity import Person, Session, SessionKind, Token
from shared.contracts.wire import SESSION_COOKIE
from shared.entitled import Admission
from shared.signing import Seal
from shared.stores.memory import MemoryKeyValue
from shared.stores.sessions import SessionWriter
from shared.stores.tokens import TokenWriter
from shared.web.identity import by_session
from tests.auth.conftest import make_config

ROUNDS, TIMES = 5, 2000
ADA = Person(
    issuer="https://accounts.google.com",
    sub="1" * 21,
    email="ada@strad.test",
    name="Ada Lovelace",
    organisation="strad.test",
)


async def measure(run: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds of processor time for one, the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(TIMES):
            assert await run() is not None
        best = min(best, (time.process_time() - started) / TIMES * 1000)
    return best


async def main() -> None:
    """Print both figures."""
    store, seal, now = MemoryKeyValue(), Seal([b"s" * 32], b"i" * 32), int(time.time())
    sessions, tokens = SessionWriter(store, seal, time.time), TokenWriter(store, seal, time.time)
    end = now + 3600
    config = make_config("https://strad.test", "https://id.test")
    cookie = await sessions.begin(
        Session(kind=SessionKind.OIDC, person=ADA, created=now, expires=end, idle_seconds=3600)
    )
    token = await tokens.create(
        Token(id="a", person=ADA, label="bench", servers=("wiki",), created=now, expires=end)
    )
    identify = by_session(sessions, Admission(config))
    request = make_mocked_request("GET", "/", {"Cookie": f"{SESSION_COOKIE}={cookie}"})
    print(f"session cookie: {await measure(lambda: identify(request)):.3f} ms")
    print(f"access token:   {await measure(lambda: tokens.verify(token)):.3f} ms")


if __name__ == "__main__":
    asyncio.run(main())
