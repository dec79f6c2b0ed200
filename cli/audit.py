"""`strad audit`: what happened, from the audit trail in Redis, one JSON object a line."""

import argparse
import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shared.clock import system_clock
from shared.key_folder import Keys
from shared.keys import AUDITOR
from shared.settings import Environment, SettingsWrong, redis_address
from shared.stores.audit import TrailReader
from shared.stores.kv import StoreUnavailable
from shared.stores.redis import connect

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def audit(arguments: argparse.Namespace) -> int:
    """Print the entries that were asked for; what does not open is counted on stderr."""
    try:
        return asyncio.run(_print(arguments))
    except SettingsWrong as error:
        print(error, file=sys.stderr)
    except StoreUnavailable as error:
        fix = "check STRAD_REDIS, and that STRAD_KEYS names the folder `auditor`"
        print(f"Redis cannot be read: {error}\n    fix: {fix}", file=sys.stderr)
    return 1


def ago(text: str) -> int:
    """Seconds, from `90m`, `24h` or `7d`. Raises `ArgumentTypeError`."""
    match = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"`{text}`: write how long ago, such as 90m, 24h or 7d")
    return int(match[1]) * _UNITS[match[2]]


async def matching(
    trail: TrailReader, start: float, person: str | None, server: str | None
) -> AsyncIterator[dict[str, Any]]:
    """The entries of one person (e-mail address or subject) and one server, oldest first."""
    email = None if person is None else person.lower()  # as the trail has them
    async for entry in trail.entries(start):
        whose = email == entry.get("email") or person == entry.get("subject")
        if (person is None or whose) and server in {None, entry.get("server")}:
            yield entry


async def _print(arguments: argparse.Namespace) -> int:
    env = Environment()
    keys = Keys(env, Path(env.text("STRAD_KEYS", "/run/strad/keys")))
    seal, password, url = keys.audit_seal(), keys.text("redis.password"), redis_address(env)
    env.done()
    assert seal is not None
    store = connect(url, AUDITOR, password)
    trail = TrailReader(store, seal, system_clock)
    start = max(0.0, system_clock() - arguments.since)
    try:
        async for entry in matching(trail, start, arguments.person, arguments.server):
            when = datetime.fromtimestamp(entry.pop("time"), UTC)
            print(json.dumps({"time": when.isoformat(timespec="milliseconds")} | entry))
    finally:
        await store.close()
    if trail.unreadable:
        text = f"{trail.unreadable} entries do not open: past their end, or not written by strad."
        print(text, file=sys.stderr)
    return 0
