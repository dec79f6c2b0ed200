"""Entitlements at a size: what a large `strad.yaml` costs, and a grant's way through Redis.

python -m tests.bench.people FILE      reads the file as the relay does; prints numbers as JSON
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from demo.run.settings import ROOT
from services.relay.entitlements.epochs import Epochs
from services.relay.entitlements.file import FileSource
from services.relay.entitlements.grants import Grants
from shared import keys
from shared.clock import system_clock
from shared.contracts.config import Config
from shared.contracts.entitlements import Entitlements
from shared.contracts.identity import Person
from shared.contracts.wire import Service
from shared.entitled import Directory
from shared.settings import Environment, read_config
from shared.signing import Seal
from tests.bench.caller import Times
from tests.bench.usage import resident_mib
from tests.shared.valkey import valkey

_GROUPS, _OF_EACH, _EVERYONES = 200, 5, 20


@dataclass(frozen=True, slots=True)
class Size:
    """How many people, servers, and looks at each."""

    people: int = 10_000
    servers: int = 500
    looks: int = 5_000


SIZES = (Size(people=1_000), Size(servers=50), Size())


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds and MiB. `first`: asked and kept; `again`: from Redis; of people with all servers."""

    size: Size
    read: float
    memory: float
    index: Times
    first: Times
    again: Times
    kept: float


def document(size: Size) -> dict[str, Any]:
    """A file in which everybody is in five groups, and a server is for three groups and people."""
    names = [f"person{number:05}@example.com" for number in range(size.people)]
    groups: dict[str, list[str]] = {f"group{number:03}": [] for number in range(_GROUPS)}
    for number, name in enumerate(names):
        for step in range(_OF_EACH):
            groups[f"group{(number * 7 + step * 31) % _GROUPS:03}"].append(name)
    servers = [
        {
            "slug": f"server{number:03}",
            "name": f"Server {number}",
            "url": f"http://server{number:03}.internal:8000/mcp",
            "access": {
                "groups": [f"group{(number * 3 + step) % _GROUPS:03}" for step in range(3)],
                "people": [names[(number * 11 + step) % size.people] for step in range(5)],
                "everyone": number < _EVERYONES,
            },
        }
        for number in range(size.servers)
    ]
    return {
        "public_url": "https://strad.example.com",
        "provider": {
            "client_id": "c",
            "client_secret": {"env": "SECRET"},
            "allow": {"domains": ["example.com"]},
        },
        "groups": groups,
        "servers": servers,
    }


async def measure(folder: Path, size: Size, say: Callable[[str], None]) -> Cost:
    """All of it, with a real server for Redis."""
    say(f"reading a file of {size.people} people and {size.servers} servers")
    path = folder / "strad.yaml"
    path.write_text(yaml.safe_dump(document(size)))
    command = [sys.executable, "-m", "tests.bench.people", str(path), str(size.looks)]
    done = await asyncio.to_thread(
        subprocess.run, command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    say("grants through Redis")
    first, again, kept = await _through_redis(folder, size)
    return Cost(size, found["read"], found["memory"], _times(found["index"]), first, again, kept)


async def _through_redis(folder: Path, size: Size) -> tuple[Times, Times, float]:
    config = Config.model_validate(document(size))
    for_all = config.model_copy(
        update={
            "servers": tuple(
                server.model_copy(
                    update={"access": server.access.model_copy(update={"everyone": True})}
                )
                for server in config.servers
            )
        }
    )
    people = [
        Person(issuer="https://id.test", sub=str(n), email=f"p{n}@example.com", name="P")
        for n in range(size.people)
    ]
    with valkey(folder) as server:
        store = server.connect(Service.RELAY)
        seal = Seal([b"g" * 32], b"i" * 32)
        epochs = Epochs(store, seal, system_clock)
        rules = Entitlements(keep=60, keep_denied=60)
        grants = Grants(FileSource(for_all), store, seal, epochs, system_clock, rules)
        with server.admin() as admin:
            before = admin.info("memory")["used_memory"]
            first = [await _timed(grants, person) for person in people]
            kept = (admin.info("memory")["used_memory"] - before) / 2**20
        some = people[-min(size.looks, len(people)) :]
        again = [await _timed(grants, person) for person in some]
        assert await store.get(keys.GRANT.key(some[0].subject)) is not None
        await store.close()
    return _times(first), _times(again), kept


def _times(each: list[float]) -> Times:
    return Times(tuple(sorted(each)), sum(each))


async def _timed(grants: Grants, person: Person) -> float:
    started = time.perf_counter()
    await grants.of(person)
    return time.perf_counter() - started


def _load(path: Path, looks: int) -> dict[str, Any]:
    before, started = resident_mib(os.getpid()), time.process_time()
    config = read_config(Environment({}), path)
    assert config is not None
    directory = Directory(config)
    read = time.process_time() - started
    memory = resident_mib(os.getpid()) - before
    people = list(dict.fromkeys(one for group in config.groups.values() for one in group))
    each = []
    for number in range(looks):
        started = time.perf_counter()
        directory.servers_of(people[number * 17 % len(people)])
        each.append(time.perf_counter() - started)
    return {"read": read, "memory": memory, "index": each}


if __name__ == "__main__":
    print(json.dumps(_load(Path(sys.argv[1]), int(sys.argv[2]))))
