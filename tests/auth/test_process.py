"""auth as a process: what stops it from starting, what does not, and how it ends."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from cli.keys import make_keys

ROOT = Path(__file__).parent.parent.parent
CONFIG: dict[str, Any] = {
    "public_url": "http://127.0.0.1:8080",
    "provider": {
        "issuer": "http://127.0.0.1:9",
        "client_id": "c",
        "client_secret": {"env": "OIDC_SECRET"},
        "allow": {"domains": ["strad.test"]},
    },
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Everything that auth needs, right."""
    make_keys(tmp_path / "keys")
    return {
        "PATH": os.environ["PATH"],
        "STRAD_CONFIG": str(write(tmp_path, CONFIG)),
        "STRAD_KEYS": str(tmp_path / "keys" / "auth"),
        "STRAD_REDIS": "redis://127.0.0.1:9/0",  # nobody listens there
        "STRAD_BIND": "127.0.0.1",
        "STRAD_PORT": "0",
        "STRAD_INTERNAL_PORT": "0",
        "OIDC_SECRET": "a secret that no log may hold",
    }


def write(folder: Path, config: dict[str, Any]) -> Path:
    path = folder / "strad.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


async def run(environment: dict[str, str]) -> tuple[int, str]:
    """Start auth and wait for its end; exit status and standard error."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.auth"),
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, error = await asyncio.wait_for(process.communicate(), 20)
    return process.returncode or 0, error.decode()


@pytest.mark.parametrize(
    "url", ["http://strad.example.com", "http://10.0.0.1:8080", "http://localhost.evil.test"]
)
async def test_it_does_not_start_on_http_for_others(
    environment: dict[str, str], tmp_path: Path, url: str
) -> None:
    write(tmp_path, CONFIG | {"public_url": url})
    status, error = await run(environment)
    assert status == 1
    assert "public_url" in error
    assert "use https" in error


async def test_it_names_every_mistake_at_once(environment: dict[str, str], tmp_path: Path) -> None:
    provider = CONFIG["provider"] | {"issuer": "http://id.example.com"}
    write(tmp_path, CONFIG | {"public_url": "strad", "provider": provider, "typo": 1})
    status, error = await run(
        environment | {"STRAD_PORT": "http", "STRAD_KEYS": "/nowhere", "STRAD_REDIS": "localhost"}
    )
    assert status == 1
    for part in ("public_url", "provider", "typo", "STRAD_PORT", "STRAD_KEYS", "STRAD_REDIS"):
        assert part in error
    assert error.count("fix:") >= 6
    assert "Traceback" not in error


async def test_a_missing_client_secret_is_named(environment: dict[str, str]) -> None:
    del environment["OIDC_SECRET"]
    status, error = await run(environment)
    assert status == 1
    assert "provider.client_secret: the variable OIDC_SECRET is not set" in error


class Process:
    """A running auth."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, internal: int) -> None:
        self.process, self.port, self.internal = process, port, internal


@pytest.fixture
async def running(environment: dict[str, str]) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.auth"),
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    line = json.loads(await asyncio.wait_for(process.stdout.readline(), 20))
    assert line["event"] == "ready"
    yield Process(process, line["port"], line["internal_port"])
    if process.returncode is None:
        process.terminate()
    await process.communicate()


async def test_it_starts_without_store_and_provider_and_says_what_is_missing(
    running: Process,
) -> None:
    own = {"Host": "127.0.0.1:8080"}
    async with aiohttp.ClientSession() as http:
        async with http.get(f"http://127.0.0.1:{running.internal}/healthz") as answer:
            assert answer.status == 200
        async with http.get(f"http://127.0.0.1:{running.internal}/readyz") as answer:
            assert answer.status == 503
        base = f"http://127.0.0.1:{running.port}"
        async with http.get(f"{base}/auth/sign-in", headers=own) as answer:
            assert answer.status == 200
        async with http.get(f"{base}/auth/start", headers=own) as answer:
            assert answer.status == 503
            assert "provider-down" in await answer.text()
        cookie = own | {"Cookie": "__Host-strad=" + "x" * 43}
        async with http.get(f"{base}/auth/tokens", headers=cookie) as answer:
            assert answer.status == 503
            assert "The store of sessions does not answer." in await answer.text()


async def test_it_ends_in_order_and_has_logged_no_secret(running: Process) -> None:
    secret = "s3cr3t" * 7 + "x"
    url = f"http://127.0.0.1:{running.port}/auth/callback?code={secret}&state={secret}"
    headers = {"Host": "127.0.0.1:8080", "Cookie": f"__Host-strad-tx={secret}"}
    async with (
        aiohttp.ClientSession() as http,
        http.get(url, headers=headers, allow_redirects=False) as answer,
    ):
        assert answer.status == 503  # whoever failed before is not known without the store
    running.process.send_signal(signal.SIGTERM)
    output, _ = await asyncio.wait_for(running.process.communicate(), 15)
    assert running.process.returncode == 0
    events = [json.loads(line) for line in output.decode().splitlines()]
    assert events[-1]["event"] == "ended"
    assert any(event.get("route") == "/auth/callback" for event in events)
    assert not re.search("s3cr3t|a secret that", output.decode())
