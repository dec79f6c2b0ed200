"""The operator's commands as they are typed, at a Redis with strad's own users."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.auth.people import People
from shared.contracts.identity import Person, Session, SessionKind
from shared.contracts.wire import Service
from shared.ids import is_token
from shared.key_folder import Keys
from shared.settings import Environment
from shared.stores.sessions import SessionWriter
from tests.auth.test_process import CONFIG, ROOT, write
from tests.shared.valkey import Valkey, valkey

ADA = Person(issuer="https://id.test", sub="1", email="ada@strad.test", name="Ada")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Valkey]:
    with valkey(tmp_path_factory.mktemp("valkey")) as running:
        yield running


@pytest.fixture
def environment(server: Valkey, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "STRAD_CONFIG": str(write(tmp_path, CONFIG)),
        "STRAD_KEYS": str(server.keys / "auth"),
        "STRAD_REDIS": server.url,
    }


def strad(environment: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "cli", *words]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


async def begin(server: Valkey) -> str:
    """Ada signs in, as far as the store goes; gives her cookie."""
    seal = Keys(Environment({}), server.keys / "auth").seal()
    assert seal is not None
    store = server.connect(Service.AUTH)
    assert await People(store, seal, time.time).claim(ADA)
    end = int(time.time()) + 600
    session = Session(
        kind=SessionKind.OIDC, person=ADA, created=end - 600, expires=end, idle_seconds=600
    )
    cookie = await SessionWriter(store, seal, time.time).begin(session)
    await store.close()
    return cookie


async def lives(server: Valkey, cookie: str) -> bool:
    seal = Keys(Environment({}), server.keys / "auth").seal()
    assert seal is not None
    store = server.connect(Service.AUTH)
    sessions = SessionWriter(store, seal, time.time)
    found = await sessions.find(sessions.digest(cookie))
    await store.close()
    return found is not None


def test_the_commands_end_and_unbind(server: Valkey, environment: dict[str, str]) -> None:
    cookie = asyncio.run(begin(server))
    assert asyncio.run(lives(server, cookie))
    done = strad(environment, "sessions", "end", "Ada@strad.test")
    assert (done.returncode, done.stdout) == (
        0,
        "Ended for ada@strad.test: sessions: 1, access tokens: 0, connected clients: 0.\n",
    ), done.stderr
    assert not asyncio.run(lives(server, cookie))
    done = strad(environment, "token", "make", "ada@strad.test", "--name", "Robot", "--days", "1")
    assert is_token(done.stdout.strip()), done.stderr
    assert "Robot  all servers" in strad(environment, "token", "list", "ada@strad.test").stdout
    done = strad(environment, "token", "revoke", "ada@strad.test", "unknown")
    assert (done.returncode, "strad token list" in done.stderr) == (1, True)
    done = strad(environment, "login-link", "ada@strad.test")
    assert "/auth/link?token=" in done.stdout
    done = strad(environment, "people", "unbind", "ada@strad.test")
    assert done.returncode == 0, done.stderr
    assert "ada@strad.test is free." in done.stdout
    done = strad(environment, "sessions", "end", "ada@strad.test")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Nobody has signed in with ada@strad.test" in done.stderr


def test_what_is_wrong_is_said_with_its_fix(environment: dict[str, str]) -> None:
    assert "write one e-mail address" in strad(environment, "people", "unbind", "ada").stderr
    away = environment | {"STRAD_REDIS": "redis://127.0.0.1:9/0"}
    done = strad(away, "sessions", "end", "ada@strad.test")
    assert (done.returncode, "check STRAD_REDIS" in done.stderr) == (1, True)
    for keys in ("relay", "apphost"):
        # another service's folder opens nothing of auth's
        other = environment | {"STRAD_KEYS": environment["STRAD_KEYS"].replace("auth", keys)}
        done = strad(other, "sessions", "end", "ada@strad.test")
        assert (done.returncode, done.stdout) == (1, ""), keys
