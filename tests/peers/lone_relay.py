"""The relay as a real process with a real store, without the other services.

Its token is written as auth would write it: with auth's keys and auth's Redis user.
"""

import asyncio
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from cli.keys import make_keys
from demo.run.binaries import valkey
from demo.run.child import Child
from demo.run.ports import LOOPBACK, free_ports
from demo.run.ready import answers, redis_answers
from shared.clock import system_clock
from shared.contracts.identity import Person, Token
from shared.contracts.wire import READY_PATH
from shared.ids import new_id
from shared.key_folder import Keys
from shared.settings import Environment
from shared.stores.redis import connect
from shared.stores.tokens import TokenWriter
from tests.peers.process import running

PERSON = Person(
    issuer="http://127.0.0.1:1",
    sub="ada",
    email="ada@strad.test",
    name="Ada Lovelace",
    organisation="strad.test",
)
TOKEN_SECONDS = 3600
_AT_ONCE = 3


@dataclass(frozen=True)
class Replica:
    """One process, and where it listens."""

    url: str
    process: Child


@dataclass(frozen=True)
class LoneRelay:
    """One replica, or several over one store. They answer to the Host of `public_url` only.

    `tokens`: one of each person, in their order.
    """

    replicas: tuple[Replica, ...]
    public_url: str
    tokens: tuple[str, ...]
    store: Child
    redis_url: str
    keys: Path

    @property
    def token(self) -> str:
        """The first person's."""
        return self.tokens[0]

    @property
    def url(self) -> str:
        """Where the first one listens."""
        return self.replicas[0].url

    @property
    def process(self) -> Child:
        """The first one."""
        return self.replicas[0].process


@contextmanager
def lone_relay(
    folder: Path,
    public_url: str,
    servers: Mapping[str, str],
    replicas: int = 1,
    people: Sequence[Person] = (PERSON,),
) -> Iterator[LoneRelay]:
    """A relay in front of `servers` (slug to URL), with tokens whose owners may use them all."""
    config, keys = folder / "strad.yaml", folder / "keys"
    config.write_text(yaml.safe_dump(_config(public_url, servers, people)))
    make_keys(keys)
    (redis_port,) = free_ports(1)
    redis_url = f"redis://{LOOPBACK}:{redis_port}/0"
    variables = {
        "STRAD_CONFIG": str(config),
        "STRAD_KEYS": str(keys / "relay"),
        "STRAD_REDIS": redis_url,
        "STRAD_BIND": LOOPBACK,
    }
    store_command = _store(redis_port, keys, folder)
    with (
        running(store_command, folder / "store.log", redis_answers(redis_port), {}) as store,
        ExitStack() as stack,
    ):
        tokens = asyncio.run(_issue_tokens(redis_url, keys / "auth", people))
        logs = [folder / f"relay-{number}.log" for number in range(replicas)]
        with ThreadPoolExecutor(_AT_ONCE) as starters:
            enter = stack.enter_context
            found = tuple(starters.map(lambda log: enter(_replica(log, variables)), logs))
        yield LoneRelay(found, public_url, tokens, store, redis_url, keys)


@contextmanager
def _replica(log: Path, variables: Mapping[str, str]) -> Iterator[Replica]:
    port, internal_port = free_ports(2)
    own = {"STRAD_PORT": str(port), "STRAD_INTERNAL_PORT": str(internal_port)}
    command, ready = [sys.executable, "-m", "services.relay"], answers(internal_port, READY_PATH)
    with running(command, log, ready, {**variables, **own}) as process:
        yield Replica(f"http://{LOOPBACK}:{port}", process)


def _store(port: int, keys: Path, folder: Path) -> list[str]:
    options = {
        "port": str(port),
        "bind": LOOPBACK,
        "aclfile": str(keys / "redis" / "users.acl"),
        "dir": str(folder),
        "save": "",
        "appendonly": "no",
    }
    return [str(valkey()), *(text for name in options for text in (f"--{name}", options[name]))]


def _config(
    public_url: str, servers: Mapping[str, str], people: Sequence[Person]
) -> dict[str, object]:
    addresses = [person.email for person in people]
    return {
        "version": 1,
        "public_url": public_url,
        "provider": {
            "issuer": PERSON.issuer,
            "client_id": "tests",
            "client_secret": {"env": "TESTS_CLIENT_SECRET"},
            "allow": {"people": [*addresses]},
        },
        "limits": {"person": 10**9, "server": 10**9, "sessions": 1000, "open": 10**6},
        "servers": [
            {"slug": slug, "name": slug, "url": url, "access": {"people": [*addresses]}}
            for slug, url in servers.items()
        ],
    }


async def issue_token(redis_url: str, folder: Path) -> str:
    """A token of `PERSON`, written with the keys in auth's folder."""
    (token,) = await _issue_tokens(redis_url, folder, (PERSON,))
    return token


async def _issue_tokens(redis_url: str, folder: Path, people: Sequence[Person]) -> tuple[str, ...]:
    env = Environment()
    keys = Keys(env, folder)
    seal, password = keys.seal(), keys.text("redis.password")
    env.done()
    assert seal is not None
    store = connect(redis_url, "auth", password)
    writer, now = TokenWriter(store, seal, system_clock), int(time.time())
    try:
        return tuple([await writer.create(_token(person, now)) for person in people])
    finally:
        await store.close()


def _token(person: Person, now: int) -> Token:
    return Token(
        id=new_id(),
        person=person,
        label="tests",
        servers=None,
        created=now,
        expires=now + TOKEN_SECONDS,
    )
