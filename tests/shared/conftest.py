"""One Valkey for all tests of this folder, and stores of either kind."""

import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass

import pytest

from shared.contracts.wire import Service
from shared.stores.kv import KeyValue
from shared.stores.memory import MemoryKeyValue
from shared.stores.redis import connect
from tests.shared.valkey import Valkey, valkey


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    """A running Valkey; tests that stop one start their own."""
    with valkey(tmp_path_factory.mktemp("valkey")) as running:
        yield running


class Clock:
    """A clock that a test can turn; it starts at the real time."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now

    def turn(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Stand:
    """A store and a way to let time pass in it: `later(seconds)`."""

    store: KeyValue
    later: Callable[[float], None]


@pytest.fixture(params=["memory", "valkey", "valkey, through the client"])
async def stand(request: pytest.FixtureRequest) -> AsyncIterator[Stand]:
    """Each test that asks for this runs on each kind of store."""
    if request.param == "memory":
        clock = Clock()
        yield Stand(MemoryKeyValue(clock), clock.turn)
        return
    server: Valkey = request.getfixturevalue("server")
    with server.admin() as admin:
        admin.flushall()
    if request.param == "valkey":
        store = server.connect(Service.AUTH)
    else:  # as for an address of TLS, or one with settings in it
        url = f"{server.url}?max_connections=100"
        store = connect(url, Service.AUTH, server.password(Service.AUTH))
    yield Stand(store, server.later)
    await store.close()


@pytest.fixture
def store(stand: Stand) -> KeyValue:
    """The store alone."""
    return stand.store
