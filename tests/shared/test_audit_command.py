"""`strad audit`: the operator reads the trail with a key and a Redis user of his own."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.audit import ago
from shared.contracts.audit import AuditRules, Entry, Event, Kept
from shared.contracts.wire import Service
from shared.key_folder import Keys
from shared.settings import Environment
from shared.stores.audit import Trail
from tests.shared.valkey import Valkey, valkey

ROOT = Path(__file__).parent.parent.parent


def run(
    server: Valkey, *arguments: str, keys: str = "auditor"
) -> "subprocess.CompletedProcess[str]":
    places = {"STRAD_REDIS": server.url, "STRAD_KEYS": str(server.keys / keys)}
    return subprocess.run(
        [sys.executable, "-m", "cli", "audit", *arguments],
        cwd=ROOT,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )


async def write(server: Valkey) -> None:
    """Two people at two servers, with the relay's own keys."""
    seal = Keys(Environment({}), server.keys / "relay").audit_seal()
    assert seal is not None
    store = server.connect(Service.RELAY)
    trail = Trail(store, seal, time.time, AuditRules())
    for name in ("ada", "bob"):
        for slug in ("wiki", "tickets"):
            kept: Kept = {"event": Event.REQUEST, "id": f"{name}-{slug}", "time": time.time()}
            kept["email"] = f"{name}@strad.test"
            await trail.now(Entry(kept, {"server": slug, "subject": f"subject-of-{name}"}))
    await store.close()


def test_the_trail_is_printed_by_time_person_and_server(tmp_path: Path) -> None:
    with valkey(tmp_path) as server:
        asyncio.run(write(server))
        whole = ["ada-wiki", "ada-tickets", "bob-wiki", "bob-tickets"]
        for arguments, expected in (
            ((), whole),
            (("--person", "Ada@strad.test"), whole[:2]),
            (("--person", "subject-of-bob", "--server", "wiki"), ["bob-wiki"]),
            (("--server", "unknown"), []),
        ):
            done = run(server, *arguments)
            assert done.returncode == 0, done.stderr
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            assert [line["id"] for line in lines] == expected
            assert all(line["time"].endswith("+00:00") for line in lines)
        # the services append and do not read
        done = run(server, keys="relay")
        assert done.returncode == 1
        assert done.stdout == ""
        assert "names the folder `auditor`" in done.stderr
    done = run(server)
    assert (done.returncode, done.stderr.startswith("Redis cannot be read")) == (1, True)


@pytest.mark.parametrize(("text", "seconds"), [("90m", 5400), ("24h", 86400), ("7d", 604800)])
def test_how_long_ago_is_written_like_this(text: str, seconds: int) -> None:
    assert ago(text) == seconds


@pytest.mark.parametrize("text", ["", "1", "h", "-1h", "1w", "1h "])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="how long ago"):
        ago(text)


def test_the_command_says_how_it_is_written() -> None:
    command = [sys.executable, "-m", "cli", "audit", "--since", "1w"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "write how long ago" in done.stderr) == (2, True)
